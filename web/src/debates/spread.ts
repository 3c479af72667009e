/** Marks that are nearer than this are moved apart, so that their letters and figures can be read. */
const NEAR = 19;

/** The places of marks from left to right, moved apart around their middle where they are too near. */
export function spread(places: readonly number[]): number[] {
  const moved = [...places];
  for (let pass = 0; pass < places.length; pass += 1) {
    for (let index = 1; index < moved.length; index += 1) {
      const [left = 0, right = 0] = [moved[index - 1], moved[index]];
      const over = NEAR - (right - left);
      if (over <= 0) continue;
      moved[index - 1] = left - over / 2;
      moved[index] = right + over / 2;
    }
  }
  return moved;
}
