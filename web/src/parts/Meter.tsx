interface Props {
  /** What the meter shows, for screen readers. */
  label: string;
  value: number;
  most: number;
  /** Values that are marked by a tick, such as a warning. */
  ticks?: readonly number[];
  /** The value in words. */
  text: string;
  isCompact?: boolean;
}

/** A value against its limit; it is amber from the first tick on, and red at the limit. */
export function Meter({ label, value, most, ticks = [], text, isCompact = false }: Props) {
  const share = (part: number) => `${Math.min(100, Math.max(0, most > 0 ? (part / most) * 100 : 0))}%`;
  const warnAt = ticks.length > 0 ? Math.min(...ticks) : Infinity;
  const level = value >= most ? 'full' : value >= warnAt ? 'warn' : 'low';
  return (
    <span className={isCompact ? 'meter compact' : 'meter'} data-level={level}>
      <span
        className="meter-bar"
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={most}
        aria-valuenow={Math.min(value, most)}
        aria-valuetext={text}
      >
        <span className="meter-fill" style={{ width: share(value) }} />
        {ticks.map((tick) => (
          <span key={tick} className="meter-tick" style={{ left: share(tick) }} />
        ))}
      </span>
      <span className="meter-text">{text}</span>
    </span>
  );
}
