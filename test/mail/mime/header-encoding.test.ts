// Texts of header fields at the length that no fold may break, and the cost of finding it.
import { expect, it } from 'vitest';
import {
  encodeExtraHeader,
  encodeSubject,
} from '../../../src/mail/mime/headers/header-encoding.ts';
import { startWork, workedMs } from '../../support/work-time.ts';

const encoders = {
  'a subject': encodeSubject,
  'a field of the caller': (text: string) => encodeExtraHeader('X-Note', text) ?? '',
};

it.each(Object.entries(encoders))(
  '%s keeps a word of 900 characters and encodes one of 901',
  (_, encode) => {
    const [longest, longer] = ['x'.repeat(900), 'x'.repeat(901)];
    expect(encode(longest)).toBe(longest);
    expect(encode(`ab ${longest}`).replaceAll('\r\n', '')).toBe(`ab ${longest}`);
    for (const text of [longer, `ab ${longer}`, `${longer} ab`]) {
      expect(encode(text)).toMatch(/^(?:\r\n )?=\?utf-8\?/);
    }
  },
);

it('the encoding takes time linear in the length of a text', () => {
  // List-Unsubscribe fields have words of 300 characters, different in each mail.
  const texts = Array.from({ length: 1_000 }, (_, i) => `${i}`.padEnd(899, 'x'));
  const before = startWork();
  for (const text of texts) encodeExtraHeader('List-Unsubscribe', text);
  // A quadratic algorithm took 2,300 ms.
  expect(workedMs(before)).toBeLessThan(150);
});
