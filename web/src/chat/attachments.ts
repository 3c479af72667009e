/** Files that are attached to a message: pictures and PDFs as they are, anything else as text. */
import type { Part } from './content';

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const PDF = 'application/pdf';
const MOST_FILE_BYTES = 4 * 1024 * 1024;
const MOST_TEXT_BYTES = 512 * 1024;

/** The server reads messages of up to 8 MiB; pictures are sent as base64. */
export const MOST_CHARACTERS = 8_000_000;

export interface Attachment {
  id: string;
  name: string;
  part: Part;
}

function readBase64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(String(reader.result).split(',', 2)[1] ?? ''));
    reader.addEventListener('error', () => reject(new Error(`${file.name} cannot be read`)));
    reader.readAsDataURL(file);
  });
}

/** How much files add to the body of a message. */
export const sizeOf = (files: readonly Attachment[]): number => JSON.stringify(files.map((file) => file.part)).length;

/** A text in a fence that it does not contain itself. */
export function fenced(name: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${name}\n${fence}\n${text.replace(/\n?$/, '\n')}${fence}`;
}

export interface AttachedText {
  name: string;
  text: string;
}

const FENCED = /^([^\n]{0,250}\.[A-Za-z0-9]{1,12})\n(`{3,})\n/;

/** The files at the beginning of a message, as `fenced` has written them, and the words after them. */
export function unfenced(message: string): { files: AttachedText[]; rest: string } {
  const files: AttachedText[] = [];
  let rest = message;
  for (let head = FENCED.exec(rest); head !== null; head = FENCED.exec(rest)) {
    const [opening, name = '', fence = ''] = head;
    // The line before the text counts, too: a file may be empty.
    const body = rest.slice(opening.length - 1);
    const end = body.search(new RegExp(`\\n${fence}(?:\\n|$)`));
    if (end < 0) break;
    files.push({ name, text: body.slice(1, end) });
    rest = body.slice(end + 1 + fence.length).replace(/^\n{1,2}/, '');
  }
  return { files, rest };
}

/** Raise an error for a file that no browser can draw, and so no model can see. */
async function checkPicture(file: File): Promise<void> {
  try {
    (await createImageBitmap(file)).close();
  } catch {
    throw new Error(`${file.name} is not a picture that can be drawn; is it damaged?`);
  }
}

/** The text of a file; one in another encoding would be damaged, so it is refused. */
export function decodeText(name: string, bytes: ArrayBuffer): string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`${name} is neither a text in UTF-8 nor a picture (PNG, JPEG, GIF, WebP) nor a PDF`);
  }
  if (text.includes('\0')) throw new Error(`${name} is neither a text nor a picture (PNG, JPEG, GIF, WebP)`);
  return text;
}

export async function attach(file: File): Promise<Attachment> {
  const id = crypto.randomUUID();
  if (IMAGES.includes(file.type)) {
    if (file.size > MOST_FILE_BYTES) throw new Error(`${file.name} is too large; a picture may have 4 MB`);
    await checkPicture(file);
    return { id, name: file.name, part: { type: 'image', mediaType: file.type, data: await readBase64(file) } };
  }
  if (file.type === PDF) {
    if (file.size > MOST_FILE_BYTES) throw new Error(`${file.name} is too large; a PDF may have 4 MB`);
    return { id, name: file.name, part: { type: 'document', mediaType: PDF, name: file.name, data: await readBase64(file) } };
  }
  if (file.size > MOST_TEXT_BYTES) throw new Error(`${file.name} is too large; a text may have 512 KB`);
  const text = decodeText(file.name, await file.arrayBuffer());
  return { id, name: file.name, part: { type: 'text', text: fenced(file.name, text) } };
}
