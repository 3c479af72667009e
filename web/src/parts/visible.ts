/** Text that cannot hide anything: what a person allows is what they have seen. */

/** Characters without a picture of their own, or that turn the order of others; blanks that are no plain space. */
const HIDDEN =
  /(?![\n\t ])(?:[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|\u034f|[\u17b4\u17b5]|[\u180b-\u180f]|[\u{e0100}-\u{e01ef}])/gu;
const BLANKS = /(?<=\S)[ \t]{12,}(?=\S)/g;
const EMPTY_LINES = /\n(?:[ \t]*\n){4,}/g;

const nameOf = (sign: string): string =>
  `‹U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}›`;

/** A text with marks for characters that are not seen, long runs of blanks, and many empty lines. */
export function showHidden(text: string): string {
  return text
    .replace(HIDDEN, nameOf)
    .replace(BLANKS, (run) => ` ‹${run.length} blanks› `)
    .replace(EMPTY_LINES, (run) => `\n‹${run.split('\n').length - 2} empty lines›\n`);
}
