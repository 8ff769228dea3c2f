// Git objects as bytes: files (blobs), trees and commits. Written so that `git fsck --strict`
// accepts them, and read strictly. The format is that of gitformat-loose-object(5), without the
// header that is hashed with the body.
import { createHash } from 'node:crypto';
import { ValidationError } from '../../platform/errors.ts';

export type ObjectType = 'commit' | 'tree' | 'blob';

export interface TreeEntry {
  /** `100644` for a file, `40000` for a folder. */
  mode: string;
  name: string;
  oid: string;
}

/** Author or committer of a commit, with the time. */
export interface Signature {
  name: string;
  email: string;
  /** Time of the signature, in seconds since 1970. */
  seconds: number;
  /** Offset from UTC, such as `+0100`. */
  zone: string;
}

export interface Commit {
  tree: string;
  parents: string[];
  author: Signature;
  committer: Signature;
  message: string;
}

export const fileMode = '100644';
export const folderMode = '40000';

/** Pattern of an object id. */
export const oidPattern = /^[a-f0-9]{40}$/;

/** Returns the id of an object: the SHA-1 of header and body. */
export function oidOf(type: ObjectType, body: Buffer): string {
  return createHash('sha1').update(`${type} ${body.length}\0`).update(body).digest('hex');
}

/** Returns the error for a malformed or missing object. */
export function badObject(type: string, oid: string, problem: string): ValidationError {
  return ValidationError.of(`${type} ${oid}`, problem);
}

/** Returns the key for sorting: git orders a folder as if the name ended with a slash. */
function orderOf({ mode, name }: TreeEntry): Buffer {
  return Buffer.from(mode === folderMode ? `${name}/` : name);
}

export function encodeTree(entries: readonly TreeEntry[]): Buffer {
  const sorted = [...entries].sort((a, b) => Buffer.compare(orderOf(a), orderOf(b)));
  return Buffer.concat(
    sorted.flatMap(({ mode, name, oid }) => [
      Buffer.from(`${mode} ${name}\0`),
      Buffer.from(oid, 'hex'),
    ]),
  );
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns the text of bytes; undefined if they are not UTF-8 or have a NUL. */
export function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Most entries of a folder; a workspace has at most 200 files. */
const mostEntries = 1_000;

/**
 * Decodes a tree. @throws ValidationError if it is malformed, unsorted, too long, or has a name
 * twice
 */
export function decodeTree(oid: string, body: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = [];
  let before: Buffer | undefined;
  for (let at = 0; at < body.length; ) {
    if (entries.length === mostEntries) {
      throw badObject('tree', oid, `has more than ${mostEntries} entries`);
    }
    const space = body.indexOf(0x20, at);
    const end = body.indexOf(0, space + 1);
    if (space < 0 || end < 0 || end + 21 > body.length) throw badObject('tree', oid, 'is cut off');
    const mode = body.toString('latin1', at, space);
    const name = textOf(body.subarray(space + 1, end));
    if (name === undefined) throw badObject('tree', oid, 'has a name that is not UTF-8');
    const entry = { mode, name, oid: body.toString('hex', end + 1, end + 21) };
    const order = orderOf(entry);
    if (before && Buffer.compare(before, order) >= 0) throw badObject('tree', oid, 'is not sorted');
    before = order;
    entries.push(entry);
    at = end + 21;
  }
  const names = new Set(entries.map(({ name }) => name));
  if (names.size < entries.length) throw badObject('tree', oid, 'has the same name twice');
  return entries;
}

/** Removes control characters, angle brackets, and punctuation at both ends, as git does. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are removed
  const kept = text.replace(/[\u0000-\u001f\u007f<>]/g, '');
  return kept.replace(/^[\s.,:;"'\\]+|(?<![\s.,:;"'\\])[\s.,:;"'\\]+$/g, '');
}

function encodeSignature({ name, email, seconds, zone }: Signature): string {
  return `${plain(name) || 'unknown'} <${plain(email)}> ${Math.max(0, seconds)} ${zone}`;
}

export function encodeCommit({ tree, parents, author, committer, message }: Commit): Buffer {
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${encodeSignature(author)}`,
    `committer ${encodeSignature(committer)}`,
  ];
  return Buffer.from(`${lines.join('\n')}\n\n${message.replaceAll('\0', '').trimEnd()}\n`);
}

const signature = /^([^<>\n]*) ?<([^<>\n]*)> (-?\d{1,19}) ([+-]\d{4})$/;
/** Last second that a date of JavaScript can represent. */
const lastSecond = 8_640_000_000_000;

function decodeSignature(oid: string, line: string | undefined, word: string): Signature {
  const found = line?.startsWith(`${word} `) ? signature.exec(line.slice(word.length + 1)) : null;
  if (!found) throw badObject('commit', oid, `has no valid ${word} line`);
  const [, name = '', email = '', digits = '', zone = ''] = found;
  const seconds = Number(digits);
  if (seconds < 0) throw badObject('commit', oid, `its ${word} date is before 1970`);
  if (seconds > lastSecond) throw badObject('commit', oid, `its ${word} date is too late`);
  return { name: name.trim(), email, seconds, zone };
}

const mostParents = 16;

/** Decodes a commit. @throws ValidationError if it is malformed, or has a date before 1970 */
export function decodeCommit(oid: string, body: Buffer): Commit {
  const text = body.toString('utf8');
  const gap = text.indexOf('\n\n');
  const head = (gap < 0 ? text.trimEnd() : text.slice(0, gap)).split('\n');
  const takeOid = (word: string) => {
    const value = head[0]?.startsWith(`${word} `) ? head[0].slice(word.length + 1) : undefined;
    if (value === undefined) return undefined;
    if (!oidPattern.test(value)) throw badObject('commit', oid, `has a malformed ${word} line`);
    head.shift();
    return value;
  };
  const tree = takeOid('tree');
  if (tree === undefined) throw badObject('commit', oid, 'has no tree line');
  const parents: string[] = [];
  for (let parent = takeOid('parent'); parent !== undefined; parent = takeOid('parent')) {
    parents.push(parent);
  }
  if (parents.length > mostParents) {
    throw badObject('commit', oid, `has more than ${mostParents} parents`);
  }
  const author = decodeSignature(oid, head[0], 'author');
  const committer = decodeSignature(oid, head[1], 'committer');
  return { tree, parents, author, committer, message: gap < 0 ? '' : text.slice(gap + 2) };
}
