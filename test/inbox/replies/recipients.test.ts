// Recipients of an answer, derived from the fields of the answered message.
import { describe, expect, it } from 'vitest';
import { type Answered, answerRecipients } from '../../../src/inbox/replies/recipients.ts';

const received: Answered = {
  direction: 'inbound',
  from: 'ada@example.com',
  replyTo: [],
  to: ['desk@example.org', 'Ada@Example.com', 'bo@example.com'],
  cc: ['BO@example.com', 'cy@example.com', 'Desk@example.org'],
};
const ownSent: Answered = {
  ...received,
  direction: 'outbound',
  from: 'desk@example.org',
  to: ['ada@example.com'],
};

const isOwn = (address: string) => address.toLowerCase() === 'desk@example.org';
const lists = ['ada@lists.example', 'desk@example.org', 'cy@example.com'];

describe('the recipients of an answer', () => {
  it.each<[string, Answered, boolean, { to: string[]; cc: string[] }]>([
    ['are the sender alone', received, false, { to: ['ada@example.com'], cc: [] }],
    [
      'are all addresses for reply-all, each once in any letter case, without the mailbox',
      received,
      true,
      { to: ['ada@example.com'], cc: ['bo@example.com', 'cy@example.com'] },
    ],
    [
      'are Reply-To in the place of the sender',
      { ...received, replyTo: lists },
      true,
      {
        to: ['ada@lists.example', 'cy@example.com'],
        cc: ['Ada@Example.com', 'bo@example.com'],
      },
    ],
    [
      'are those of the answered message when it is our own',
      ownSent,
      false,
      { to: ['ada@example.com'], cc: [] },
    ],
    [
      'are all those of our own message for reply-all',
      ownSent,
      true,
      { to: ['ada@example.com'], cc: ['BO@example.com', 'cy@example.com'] },
    ],
    [
      'are the copies of our own message that has no other recipients',
      { ...ownSent, to: [] },
      false,
      { to: ['BO@example.com', 'cy@example.com'], cc: [] },
    ],
  ])('%s', (_, message, all, expected) => {
    expect(answerRecipients(message, isOwn, all)).toEqual(expected);
  });
});
