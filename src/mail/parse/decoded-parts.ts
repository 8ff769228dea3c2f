// Digests of the decoded parts of a mail, independent of the transfer encoding. Two mails with the
// same content from the same program differ in boundary, Date and Message-ID, but not in the parts.
import { hash } from 'node:crypto';
import { readParameters } from '../mime/headers/header-values.ts';
import { runParser, splitMail } from './body.ts';
import type { TextNode } from './text.ts';

export interface DecodedPart {
  /** Type `type/subtype`, lower case. A multipart precedes its parts. */
  type: string;
  filename: string | null;
  /** SHA-256 of the content; null for a multipart. */
  digest: string | null;
}

/**
 * Returns the parts of a raw mail in their order. A mail that exceeds the limits of the parser
 * counts as a single part.
 */
export async function decodedParts(raw: Buffer): Promise<DecodedPart[]> {
  const mail = splitMail(raw);
  const chunks = new Map<object, Buffer[]>();
  const add = (node: object, chunk: Buffer) => {
    const known = chunks.get(node);
    if (known) known.push(chunk);
    else chunks.set(node, [chunk]);
  };
  const discard = ({ content, release }: Parameters<Parameters<typeof runParser>[1]>[0]) => {
    content.on('end', () => release?.());
    content.resume();
  };
  const { tree, error } = await runParser(mail, discard, add);
  if (tree === null || error !== null) {
    const type = readParameters(mail.block.first('content-type')).value || 'text/plain';
    return [{ type, filename: null, digest: hash('sha256', mail.body, 'hex') }];
  }
  const parts: DecodedPart[] = [];
  addParts(tree, (node) => Buffer.concat(chunks.get(node) ?? []), parts);
  return parts;
}

function addParts(
  { contentType, node, children }: TextNode,
  contentOf: (node: object) => Buffer,
  parts: DecodedPart[],
): void {
  const type = contentType || 'text/plain';
  const content = node?.text?.bytes ?? Buffer.alloc(0);
  const isBranch = children.length > 0;
  const isMultipart = type.startsWith('multipart/');
  parts.push({
    type,
    filename: node?.filename || null,
    digest: isBranch ? null : digestOf(type, isMultipart || !node ? content : contentOf(node)),
  });
  for (const child of children) addParts(child, contentOf, parts);
}

/**
 * Hashes a part. Of a text, ignores trailing white space and the kind of line ends, which depend on
 * the transfer.
 */
function digestOf(type: string, content: Buffer): string {
  if (!type.startsWith('text/')) return hash('sha256', content, 'hex');
  const text = content.toString('latin1').replaceAll('\r\n', '\n').trimEnd();
  return hash('sha256', Buffer.from(text, 'latin1'), 'hex');
}
