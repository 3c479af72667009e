/** The lamp of a state in a drawing. */
export function StateLamp({ x, y, isOn, isFinal }: { x: number; y: number; isOn: boolean; isFinal: boolean }) {
  return (
    <g className={`state-lamp${isOn ? ' on' : ''}${isFinal ? ' final' : ''}`}>
      {isOn && <circle cx={x} cy={y} r={9} className="halo" />}
      <circle cx={x} cy={y} r={5} className="ring" />
      {(isOn || isFinal) && <circle cx={x} cy={y} r={isFinal ? 2.4 : 3.2} className="core" />}
    </g>
  );
}
