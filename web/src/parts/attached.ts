/** Texts of attached files within a message: a name, and the text in a fence that it does not contain itself. */
export interface AttachedText {
  name: string;
  text: string;
}

const ATTACHED = /^([^\n`]{1,255})\n(`{3,})\n([\s\S]*?)\n?\2$/;

/** A text in a fence that it does not contain itself, below its name. */
export function fenced(name: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${name}\n${fence}\n${text.replace(/\n?$/, '\n')}${fence}`;
}

/** The file that a part of a message is, or null if it is a text that a person wrote. */
export function readAttached(part: string): AttachedText | null {
  const match = ATTACHED.exec(part);
  const fence = match?.[2];
  const text = match?.[3];
  if (match?.[1] === undefined || fence === undefined || text === undefined || text.includes(fence)) return null;
  return { name: match[1], text };
}
