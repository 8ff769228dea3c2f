// The id that a relay names in its 250, read from real replies.
import { describe, expect, it } from 'vitest';
import { furtherIdIn, idRules } from '../../../src/mail/smtp/reply-rules/further-ids.ts';
import { toRemoteReply } from '../../../src/mail/smtp/session/reply.ts';

const read = (line: string) => furtherIdIn(toRemoteReply({ code: 250, lines: [line] }, 'dot').text);

describe('the 250 of a relay', () => {
  it.each(idRules)('has the id of $source', ({ words, example }) => {
    expect(words.exec(example)?.[1]).toBeTruthy();
  });

  it.each([
    [
      'Ok 0102018c7a1b2c3d-01234567-89ab-cdef-0123-456789abcdef-000000',
      '0102018c7a1b2c3d-01234567-89ab-cdef-0123-456789abcdef-000000',
    ],
    [
      '2.0.0 Ok 0100018c7a1b2c3d-01234567-89ab-cdef-0123-456789abcdef-000000',
      '0100018c7a1b2c3d-01234567-89ab-cdef-0123-456789abcdef-000000',
    ],
    ['2.0.0 OK <AM0PR01MB1@AM0PR01.prod.example> [Hostname=AM0PR01]', 'AM0PR01MB1'],
    ['2.0.0 OK: queued as <202601051100.1234@smtp-relay.example>', '202601051100.1234'],
    ['2.6.0 <id.1@host.example> [InternalId=7, Hostname=x] Queued mail for delivery', 'id.1'],
    ['2.0.0 Ok: queued as 4XyzAbC123', null],
    ['2.0.0 OK 1767610800 x1-20020a05600c.1 - gsmtp', null],
    ['Ok', null],
    ['Message accepted for <joe>', null],
    ['2.0.0 Ok: queued as 0102018c7a1b2c3d', null],
  ])('names %s', (line, id) => {
    expect(read(line)).toBe(id);
  });
});
