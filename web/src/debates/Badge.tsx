/** The letter of a debater, in its shape and colour. */
export function Badge({ letter }: { letter: string }) {
  return (
    <span className={`side-badge side-${letter}`} aria-hidden="true">
      {letter}
    </span>
  );
}
