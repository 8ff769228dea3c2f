// Text from outside that the main thread reads: the time to read it grows at most in proportion to
// its length. Each row names a reader and the longest text that reaches it; each reads long runs of
// each unit below.
import { describe, expect, it } from 'vitest';
import { readMediaType } from '../../daemon/http/media-type.ts';
import { recordsOf } from '../../src/identity/domains/dns-records.ts';
import { mergedDmarc, mergedSpf } from '../../src/identity/domains/merged-records.ts';
import type { DomainKeyRow, DomainRow } from '../../src/identity/domains/queries.ts';
import { readDomainName } from '../../src/identity/domains/schema.ts';
import { boundMail } from '../../src/inbox/receiving/bound-mail.ts';
import { foldLabel } from '../../src/inbox/threads/threads.ts';
import { parseAddressList } from '../../src/mail/mime/headers/header-addresses.ts';
import {
  encodeDisplayName,
  encodeExtraHeader,
  encodeSubject,
} from '../../src/mail/mime/headers/header-encoding.ts';
import { readHeaderBlock } from '../../src/mail/mime/headers/header-fields.ts';
import {
  decodeWords,
  readDate,
  readParameters,
} from '../../src/mail/mime/headers/header-values.ts';
import { readMessageIds } from '../../src/mail/mime/headers/message-ids.ts';
import { answerSubject, baseSubject, forwardSubject } from '../../src/mail/mime/headers/subject.ts';
import { projectHeader } from '../../src/mail/parse/read-header.ts';
import { classifyReply } from '../../src/mail/smtp/reply-rules/classify-reply.ts';
import { automatedBy } from '../../src/outbound/tracking/automated.ts';
import { unsubscribeUrlsOf } from '../../src/outbound/tracking/content.ts';
import { wordsOf as contactWords } from '../../src/people/contacts/words.ts';
import { ValidationError } from '../../src/platform/errors.ts';
import { wordsOfDocument } from '../../src/platform/full-text/document.ts';
import { parseQuery } from '../../src/platform/full-text/query.ts';
import { folded } from '../../src/platform/full-text/words.ts';
import { foldAddress, parseAddress } from '../../src/platform/net/address.ts';
import { parseRange } from '../../src/platform/net/network-address.ts';
import { foldCase } from '../../src/platform/runtime/fold-case.ts';
import { startWork, workedMs } from '../support/work-time.ts';

const field = 65_536;
const headerBlock = 256 * 1024;
const dnsText = 65_536;
const httpHeader = 16_384;

const ofHeader = (text: string) =>
  projectHeader(readHeaderBlock(Buffer.from(`From: ${text}\r\nSubject: ${text}\r\n\r\nx`)), {});
const ofReply = (text: string) =>
  classifyReply({ code: 550, enhancedCode: null, text } as Parameters<typeof classifyReply>[0]);

const ofQuestion = (text: string) => {
  try {
    return parseQuery(text);
  } catch (error) {
    // More words than a question may have.
    if (error instanceof ValidationError) return error;
    throw error;
  }
};

const domainKey = {
  is_active: 1,
  retired_at: null,
  algorithm: 'rsa-sha256',
  selector: 's',
  public_key: 'AAAA',
};
const ownDomain = { domain: 'a.example', return_path: 'bounce.a.example', receives_mail: 1 };
const dnsRecords = recordsOf(
  ownDomain as DomainRow,
  [domainKey as DomainKeyRow],
  { mode: 'direct', hostname: 'mail.example', relay: { host: null, spf: null }, routes: [] },
  0,
);
const checkDns = (text: string) =>
  dnsRecords.map(({ judge, advise }) => advise([text], judge([text]).status));
const ofUserAgent = (text: string) =>
  automatedBy('open', {
    method: 'GET',
    headers: { 'user-agent': text },
    remoteAddress: '192.0.2.1',
  });
const ofDocument = (text: string) =>
  wordsOfDocument({ subject: text, from: [text], text, hasAttachment: false });

const readers: readonly [name: string, characters: number, read: (text: string) => unknown][] = [
  ['the header of a received mail', headerBlock, ofHeader],
  ['a mail before its checks', headerBlock, (text) => boundMail(Buffer.from(text))],
  ['encoded words', field, decodeWords],
  ['a list of addresses', field, parseAddressList],
  ['Message-IDs', field, readMessageIds],
  ['a date', field, readDate],
  ['parameters of a field', field, readParameters],
  ['the subject of a conversation', field, baseSubject],
  ['the subject of an answer', field, answerSubject],
  ['the subject of a forwarded mail', field, forwardSubject],
  ['a subject to send', 998, encodeSubject],
  ['a header to send', 10_000, (text) => encodeExtraHeader('X-A', text)],
  ['a display name', 998, encodeDisplayName],
  ['List-Unsubscribe to send', field, (text) => unsubscribeUrlsOf({ 'List-Unsubscribe': text })],
  ['an address', field, parseAddress],
  ['an address to compare', 320, foldAddress],
  ['a name of a contact', 200, foldCase],
  ['the words of a contact', 200, contactWords],
  ['a question for words', 1_000, ofQuestion],
  ['a reply of a remote server', field, ofReply],
  ['an SPF record', dnsText, (text) => mergedSpf([`v=spf1 ${text}`], ['a:mail.example'])],
  [
    'a DMARC record',
    dnsText,
    (text) => mergedDmarc(`v=DMARC1; rua=${text}; x=${text}`, 'a@b.example'),
  ],
  ['a published record', dnsText, checkDns],
  ['a published SPF record', dnsText, (text) => checkDns(`v=spf1 ${text}`)],
  ['a published DMARC record', dnsText, (text) => checkDns(`v=DMARC1; rua=${text}`)],
  ['a published DKIM record', dnsText, (text) => checkDns(`v=DKIM1; p=${text}`)],
  ['a user agent', httpHeader, ofUserAgent],
  ['a label', 64, foldLabel],
  ['the name of a domain', 1_000, readDomainName],
  ['a range of addresses', httpHeader, parseRange],
  ['the words of a mail', 50_000, ofDocument],
  ['a media type', httpHeader, (text) => readMediaType(`application/json${text}`)],
  ['a text to index', 200_000, folded],
];

const units = [
  ...[
    ' ',
    '\t',
    '\r\n ',
    'a',
    '1 ',
    'é',
    '東',
    '\u0315\u0300\u05ae\u0301',
    '\u0f71\u0f72',
    '\uff9e\u0315',
    '\u0eb3\u0315\u200b',
    '\ufffd',
    '\n',
    '\ufdfa',
  ],
  ...[
    '(',
    ')',
    '[',
    '<',
    '>',
    '<a> ',
    '"',
    '\\',
    ',',
    ':',
    ';',
    '; ',
    '=',
    '= ',
    '@',
    'a@',
    '%',
    '&',
  ],
  ...['a ', 'a:', 'a=', '.a', '-', 'a@b.c,', '<https:', '=?utf-8?q?', '=?utf-8?q?a?= ', 'Re: '],
];
/** Endings that make a match succeed late or fail at the last moment. */
const endings = ['!', ' a\nb'];
/** Times below this are fast enough with any growth. */
const noMattersMs = 100;
/** Resolution of the processor's clock, and one garbage collection. */
const noiseMs = 12;
/** Four times the text may take four times the time, plus the noise of a busy machine. */
const mostGrowth = 9;
const slowestMs = 700;

type Text = readonly [unit: string, ending: string];
const texts = units.flatMap((unit) => endings.map((ending): Text => [unit, ending]));

/** Measures the work on this many characters of the unit: the least of three runs. */
function workOn(read: (text: string) => unknown, [unit, ending]: Text, characters: number): number {
  const length = characters - ending.length;
  const text = unit.repeat(Math.ceil(length / unit.length)).slice(0, length) + ending;
  const once = () => {
    const from = startWork();
    read(text);
    return workedMs(from);
  };
  const first = once();
  return first < noMattersMs ? first : Math.min(first, once(), once());
}

describe('the time to read text from outside', () => {
  it.each(readers)('grows in proportion to the length of %s', (_, characters, read) => {
    for (const text of texts) {
      const ms = workOn(read, text, characters);
      if (ms < noMattersMs) continue;
      const quarter = workOn(read, text, characters / 4);
      const context = `${JSON.stringify(text)}: ${ms} ms, of a quarter of it ${quarter} ms`;
      expect(ms < slowestMs && ms / Math.max(quarter, noiseMs) < mostGrowth, context).toBe(true);
    }
  });
});
