// Message ids of received mail: the ids of RFC 5322 in present and obsolete syntax, and values that
// are none.
import { describe, expect, it } from 'vitest';
import { boundReferences, readMessageIds } from '../../../src/mail/mime/headers/message-ids.ts';

describe('message ids', () => {
  it.each([
    ['<a@b> junk <c@d>', ['<a@b>', '<c@d>']],
    ['a@b', ['<a@b>']],
    ['a@b c@d', ['<a@b>', '<c@d>']],
    ['< 1234 @ local . node . example >', ['<1234@local.node.example>']],
    ['<1234   @   local(blah)  .machine .example>', ['<1234@local.machine.example>']],
    ['<abc def@host.example>', ['<abcdef@host.example>']],
    ['(a comment) <a@b.example> (another)', ['<a@b.example>']],
    ['<"quoted id"@b.example>', ['<"quotedid"@b.example>']],
    ['<a@[192.0.2.1]>', ['<a@[192.0.2.1]>']],
    ['<000001c0$1a2b$3c4d@host.example>', ['<000001c0$1a2b$3c4d@host.example>']],
    [
      '<{0A1B2C3D-1111-2222-3333-444455556666}@host.example>',
      ['<{0A1B2C3D-1111-2222-3333-444455556666}@host.example>'],
    ],
    ['<a@b@c.example>', ['<a@b@c.example>']],
    ['<0@x>', ['<0@x>']],
    ['Your message of Tuesday <a@b.example>', ['<a@b.example>']],
    ['=?utf-8?q?=3Cabc?= =?utf-8?q?def=40host=2Eexample=3E?=', ['<abcdef@host.example>']],
    ['<a@b.example><c@d.example>', ['<a@b.example>', '<c@d.example>']],
  ])('are read from %s', (value, ids) => {
    expect(readMessageIds(value)).toEqual(ids);
  });

  it.each([
    'undefined',
    '<undefined>',
    '<null>',
    '<undefined@undefined>',
    '<NULL@mail.example>',
    '(null)',
    '0',
    '<0>',
    '-1',
    '<>',
    '<@>',
    '<@mail.example>',
    '<1234@>',
    '<1234>',
    'none',
    'N/A',
    '{{message_id}}',
    '<{{ messageId }}@mail.example>',
    '<ticket-{{id}}@mail.example>',
    ['<$', '{message.id}@mail.example>'].join(''),
    '<#{id}@mail.example>',
    '<{message_id}@mail.example>',
    '<{0}@mail.example>',
    '<{}@mail.example>',
    '<[MESSAGE-ID]@mail.example>',
    '<%MESSAGE_ID%@mail.example>',
    '<%s@mail.example>',
    '<%d.%s@mail.example>',
    '<$MESSAGE_ID@mail.example>',
    '<[object Object]>',
    '<[object Object]@mail.example>',
    '<message-id@mail.example>',
    'Your message of Tuesday',
    'not an id',
    'NaN',
    'false',
    '<%= id %>',
  ])('are not read from %s', (value) => {
    expect(readMessageIds(value)).toEqual([]);
  });

  it('of References are unique, and long lists keep the first and the newest', () => {
    const read = (value: string) => boundReferences(readMessageIds(value));
    expect(read('<a@b><c@d> <a@b>')).toEqual(['<a@b>', '<c@d>']);
    const ids = Array.from({ length: 150 }, (_, at) => `<${at}@x>`);
    const kept = read(ids.join(' '));
    expect(kept).toHaveLength(100);
    expect([kept[0], kept[1], kept.at(-1)]).toEqual(['<0@x>', '<51@x>', '<149@x>']);
  });
});
