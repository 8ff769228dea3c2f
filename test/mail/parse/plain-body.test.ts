// A plain mail is read without a parser of parts, with the result of that parser.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readHeaderBlock } from '../../../src/mail/mime/headers/header-fields.ts';
import { readPlainBody, runParser } from '../../../src/mail/parse/body.ts';
import { joinTexts } from '../../../src/mail/parse/text.ts';

const seed = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);

const plainFields = [
  '',
  'Content-Type: text/plain\r\n',
  'content-type: TEXT/plain; charset=utf-8\r\n',
  'Content-Type: text/plain; charset="US-ASCII"\r\nContent-Transfer-Encoding: 7bit\r\n',
  'Content-Transfer-Encoding: 8BIT\r\nContent-Language: de\r\n',
];
const otherFields = [
  'Content-Type: text/html\r\n',
  'Content-Type: text/plain; format=flowed\r\n',
  'Content-Type: text/plain; charset=iso-8859-1\r\n',
  'Content-Type: text/plain; name=a.txt\r\n',
  'Content-Type: text/plain\r\nContent-Type: text/html\r\n',
  'Content-Transfer-Encoding: base64\r\n',
  'Content-Transfer-Encoding: quoted-printable\r\n',
  'Content-Disposition: attachment\r\n',
  'Content-Type: multipart/mixed; boundary=b\r\n',
];

/** Parses with mailparser, the reference. */
async function parsed(fields: string, body: Buffer) {
  const attachments: unknown[] = [];
  const block = readHeaderBlock(Buffer.from(`${fields}\r\n`));
  const { tree, error } = await runParser({ block, body }, (one) => attachments.push(one));
  const faults: never[] = [];
  return { ...joinTexts(tree, faults), faults, isFailed: error !== null, attachments };
}

function plain(fields: string, body: Buffer) {
  const tree = readPlainBody(
    readHeaderBlock(Buffer.from(`From: a@b.example\r\n${fields}\r\n`)),
    body,
  );
  if (!tree) return null;
  const faults: never[] = [];
  return { ...joinTexts(tree, faults), faults, isFailed: false, attachments: [] };
}

describe(`a body of text alone (seed ${seed})`, () => {
  it.each(plainFields)('gives the result of the parser under %j', async (fields) => {
    const pieces = ['\r\n', '\n', '\r', 'Hi', 'From: x', '--b', 'größer', '\u2028', '\ufeff', '\0']
      .concat('>', '.', ' ', '\t', '東京')
      .map((text) => Buffer.from(text))
      .concat(Buffer.from([0xff]), Buffer.from([0xe2, 0x82]));
    const body = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(body, async (all) => {
        const bytes = Buffer.concat(all);
        expect(plain(fields, bytes)).toEqual(await parsed(fields, bytes));
      }),
      { numRuns: 60, seed },
    );
  });

  it.each(otherFields)('is left to the parser under %j', (fields) => {
    expect(plain(fields, Buffer.from('Hello\r\n'))).toBeNull();
  });
});
