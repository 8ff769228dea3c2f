// The body of a mail that is nothing but text: its bytes are its words, so that no parser of parts is asked,
// which takes ten times as long. What it makes is what mailparser makes of the same mail.
import type { HeaderBlock } from './header-fields.ts';
import { readParameters } from './header-values.ts';
import type { TextNode } from './text.ts';

/** Longer texts are cut, which is the business of lenient-parser.ts. */
const mostBytes = 512 * 1024;
/** They say nothing of how the body is written down. */
const harmless = new Set(['content-language', 'content-length']);
const identities = new Set(['', '7bit', '8bit', 'binary']);
const utf8s = new Set(['utf-8', 'us-ascii']);

/** The charset that the mail names, if any, where its body is plain; else null. */
function plainCharset(block: HeaderBlock): Pick<TextNode, 'charset'> | null {
  for (const { name } of block.fields) {
    const key = name.toLowerCase();
    if (!key.startsWith('content-') || harmless.has(key)) continue;
    if (key !== 'content-type' && key !== 'content-transfer-encoding') return null;
    if (block.all(key).length > 1) return null;
  }
  const encoding = block.first('content-transfer-encoding') ?? '';
  if (!identities.has(encoding.toLowerCase())) return null;
  const type = block.first('content-type');
  if (type === null) return {};
  const { value, parameters } = readParameters(type);
  const { charset, ...others } = parameters;
  if (value !== 'text/plain' || Object.keys(others).length > 0) return null;
  if (charset === undefined) return {};
  return utf8s.has(charset.toLowerCase()) ? { charset } : null;
}

/** The tree of such a mail, which is one leaf; null where its body has to be parsed. */
export function readPlainBody(block: HeaderBlock, body: Buffer): TextNode | null {
  if (body.length > mostBytes || body.length === 0) return null;
  const plain = plainCharset(block);
  if (plain === null) return null;
  const textContent = body.toString().replaceAll('\r\n', '\n');
  return { contentType: 'text/plain', ...plain, textContent, children: [] };
}
