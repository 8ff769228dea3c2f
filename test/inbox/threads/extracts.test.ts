// Codes and links of messages in a mailbox, over HTTP.
import { beforeEach, describe, expect, it } from 'vitest';
import { createMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { arrive, mailboxOf } from './mails.ts';

interface Extracts {
  codes: { value: string; context: string }[];
  links: { url: string; text: string }[];
}

const html = { headers: ['Content-Type: text/html; charset=utf-8'] };

describe.each(stores)('the extracts of a message, on %s', (store) => {
  const { test, api } = eachApi({ store });
  let mailbox: string;
  beforeEach(async () => {
    mailbox = `/v1/mailboxes/${await mailboxOf(test.app)}`;
  });

  const of = async (id: string, from = mailbox) =>
    api.get<Extracts>(`${from}/messages/${id}/extracts`);

  it('are its codes, the likeliest first, each with the words around it', async () => {
    const id = await arrive(test.app, {
      subject: 'Sign in to Acme',
      text: 'Your order 4711 is ready.\nYour code is 482 913.\nAnother PIN: 7731',
    });
    const { status, body } = await of(id);
    expect([status, body.codes]).toEqual([
      200,
      [
        { value: '482913', context: 'Your code is 482 913.' },
        { value: '7731', context: 'Another PIN: 7731' },
      ],
    ]);
  });

  it('are the links of its HTML with their words, or those of its text', async () => {
    const text =
      '<p><a href="https://acme.example/confirm?a=1&amp;b=2">Confirm <b>now</b></a></p>' +
      '<a href="mailto:x@y.example">x</a><a href="https://acme.example/help"><img alt="Help"></a>';
    const page = await of(await arrive(test.app, { ...html, text }));
    expect(page.body.links).toEqual([
      { url: 'https://acme.example/confirm?a=1&b=2', text: 'Confirm now' },
      { url: 'https://acme.example/help', text: 'Help' },
    ]);
    const plain = await of(await arrive(test.app, { text: 'Open https://acme.example/x today' }));
    expect(plain.body.links).toEqual([
      { url: 'https://acme.example/x', text: 'Open https://acme.example/x today' },
    ]);
  });

  it('are empty for a mail without any, and at most 10 codes and 100 links', async () => {
    const none = await of(await arrive(test.app, { text: 'Hello' }));
    expect(none.body).toEqual({ codes: [], links: [] });
    const lines = Array.from(
      { length: 300 },
      (_, at) => `code ${482_000 + at} https://a.example/${at}`,
    );
    const { codes, links } = (await of(await arrive(test.app, { text: lines.join('\n') }))).body;
    expect([codes.length, links.length]).toEqual([10, 100]);
  });

  it('are those of a sent message too, and of no message elsewhere', async () => {
    const sent = await api.post<{ messageId: string }>(`${mailbox}/messages`, {
      to: ['delivered@simulator.test'],
      subject: 'Your code',
      text: 'Your code: 554433',
    });
    expect((await of(sent.body.messageId)).body.codes).toMatchObject([{ value: '554433' }]);
    const other = await createMailbox(test.app, test.caller, { slug: 'other' });
    const elsewhere = await of(sent.body.messageId, `/v1/mailboxes/${other.id}`);
    expect([elsewhere.status, (await of('msg_06dq2k0qz8h3v5m1r9t4w7xy')).status]).toEqual([
      404, 404,
    ]);
  });
});
