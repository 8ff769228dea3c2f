// Recipients of an answer, by the fields of the message.
import { describe, expect, it } from 'vitest';
import { type Answered, answerRecipients } from '../../src/answering/recipients.ts';

const came: Answered = {
  direction: 'inbound',
  from: 'ada@example.com',
  replyTo: [],
  to: ['desk@example.org', 'Ada@Example.com', 'bo@example.com'],
  cc: ['BO@example.com', 'cy@example.com', 'Desk@example.org'],
};
const went: Answered = {
  ...came,
  direction: 'outbound',
  from: 'desk@example.org',
  to: ['ada@example.com'],
};

const isOwn = (address: string) => address.toLowerCase() === 'desk@example.org';
const lists = ['ada@lists.example', 'desk@example.org', 'cy@example.com'];

describe('an answer goes', () => {
  it.each<[string, Answered, boolean, { to: string[]; cc: string[] }]>([
    ['to the sender alone', came, false, { to: ['ada@example.com'], cc: [] }],
    [
      'to all: each once, whatever the case of letters, and never to the mailbox itself',
      came,
      true,
      { to: ['ada@example.com'], cc: ['bo@example.com', 'cy@example.com'] },
    ],
    [
      'to Reply-To in the place of the sender',
      { ...came, replyTo: lists },
      true,
      {
        to: ['ada@lists.example', 'cy@example.com'],
        cc: ['Ada@Example.com', 'bo@example.com'],
      },
    ],
    ['of our own to its recipients', went, false, { to: ['ada@example.com'], cc: [] }],
    [
      'of our own to all of them',
      went,
      true,
      { to: ['ada@example.com'], cc: ['BO@example.com', 'cy@example.com'] },
    ],
    [
      'of our own to its copies where it went to nobody else',
      { ...went, to: [] },
      false,
      { to: ['BO@example.com', 'cy@example.com'], cc: [] },
    ],
  ])('%s', (_, message, all, expected) => {
    expect(answerRecipients(message, isOwn, all)).toEqual(expected);
  });
});
