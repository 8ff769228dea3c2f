// In-Reply-To and References of an answer (RFC 5322 3.6.4) name only ids that their mail bears.
import { beforeEach, describe, expect, it } from 'vitest';
import { eachApi } from '../../support/each-app.ts';
import { arriveRaw } from '../threads/mails.ts';
import { config, type Desk, deskOf } from './world.ts';

describe('the threading fields of an answer', () => {
  const world = eachApi({ config });
  let desk: Desk;
  beforeEach(async () => {
    desk = await deskOf(world);
  });

  async function fieldsFor(...lines: string[]) {
    const head = ['From: ada@example.com', `To: ${desk.address}`, 'Subject: A question', ...lines];
    const raw = Buffer.from([...head, '', 'Hello', ''].join('\r\n'));
    const id = await arriveRaw(world.test.app, raw, desk.address);
    const { body } = await desk.reply(id);
    const { inReplyTo, references } = await desk.email(body.messageId);
    return [inReplyTo, references ?? []];
  }

  it.each<[string[], string | null, string[]]>([
    [[], null, []],
    [['Message-ID: <undefined>'], null, []],
    [['Message-ID: 12345'], null, []],
    [['Message-ID: <null@mail.example>'], null, []],
    [['References: <root@a.example>'], null, ['<root@a.example>']],
    [['In-Reply-To: <root@a.example>'], null, ['<root@a.example>']],
    [['References: <null>', 'Message-ID: <>'], null, []],
    [['Message-ID: <own@a.example>'], '<own@a.example>', ['<own@a.example>']],
    [
      ['Message-ID: <own@a.example>', 'References: <root@a.example> <undefined>'],
      '<own@a.example>',
      ['<root@a.example>', '<own@a.example>'],
    ],
    [
      ['Message-ID: <own@a.example>', 'In-Reply-To: <root@a.example>'],
      '<own@a.example>',
      ['<root@a.example>', '<own@a.example>'],
    ],
    [['Message-ID: < own @ a.example >'], '<own@a.example>', ['<own@a.example>']],
  ])('for %j', async (lines, inReplyTo, references) => {
    expect(await fieldsFor(...lines)).toEqual([inReplyTo, references]);
  });
});
