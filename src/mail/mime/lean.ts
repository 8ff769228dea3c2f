// Composes the common form, text and/or HTML without attachments, in a few microseconds;
// MailComposer needs about two hundred. test/mail/mime/compose.property.test.ts checks that both
// results mean the same.
import { draftHeader, headerBytes } from './headers/header.ts';
import type { HeaderField } from './headers/header-encoding.ts';
import { type Composed, type ComposeInput, checkInput } from './input.ts';
import { boundarySafe, boundaryStart, encodeText, textPart } from './text.ts';

export const plainType = 'text/plain; charset=utf-8';
export const htmlType = 'text/html; charset=utf-8';

interface Body {
  contentFields: HeaderField[];
  data: string;
}

function singleBody(contentType: string, text: string, seed: string): Body {
  const { transferEncoding, data } = encodeText(text, seed);
  return {
    contentFields: [
      { name: 'Content-Type', value: contentType },
      { name: 'Content-Transfer-Encoding', value: transferEncoding },
    ],
    data,
  };
}

function alternativeBody(text: string, html: string, seed: string): Body {
  const boundary = `${boundaryStart}${seed}`;
  const separator = `--${boundary}`;
  return {
    contentFields: [
      { name: 'Content-Type', value: `multipart/alternative;\r\n boundary="${boundary}"` },
    ],
    data:
      `${separator}\r\n${textPart(plainType, text, seed)}\r\n` +
      `${separator}\r\n${textPart(htmlType, html, seed)}\r\n${separator}--\r\n`,
  };
}

/**
 * Chooses the parts of the body. Omits an empty text beside HTML: a reader that prefers text would
 * show an empty message.
 */
function bodyOf({ html, text }: ComposeInput, seed: string): Body {
  if (html === null || (html === '' && text !== null))
    return singleBody(plainType, text ?? '', seed);
  if (text === null || text === '') return singleBody(htmlType, html, seed);
  return alternativeBody(text, html, seed);
}

/**
 * Composes an input without attachments.
 * @throws ComposeError
 */
export function composeLean(input: ComposeInput): Composed {
  checkInput(input);
  const seed = boundarySafe(input.boundarySeed);
  const draft = draftHeader(input);
  const { contentFields, data } = bodyOf(input, seed);
  draft.fields.push(...contentFields);
  return {
    fields: draft.fields,
    header: headerBytes(draft),
    body: Buffer.from(data, 'latin1'),
    smtpUtf8: draft.isUtf8,
    eightBit: draft.isUtf8,
  };
}
