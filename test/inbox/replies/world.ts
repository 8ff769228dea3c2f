// A mailbox that receives mail and answers it, over HTTP: keys of each kind, and the queued
// deliveries.
import { sql } from 'kysely';
import { createKey } from '../../../src/access/keys/keys.ts';
import type { CreateKey } from '../../../src/access/keys/schema.ts';
import type { Page } from '../../../src/core/api/pagination.ts';
import { createMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import type { ReplyResult } from '../../../src/inbox/replies/schema.ts';
import type { EmailProjection } from '../../../src/outbound/messages/email-schema.ts';
import type { Answer, HttpApi } from '../../support/http-client.ts';
import type { TestApp } from '../../support/test-app.ts';
import { arrive, type Mail } from '../threads/mails.ts';

/** Trusts this machine: senders are not checked. */
export const config = { smtp: { inbound: { trustedNetworks: ['127.0.0.1'] } } };

export interface Problem {
  _tag: string;
  message: string;
  fields: Record<string, string[]>;
}

export type Result = Answer<ReplyResult & Problem>;

/** A mailbox, with functions that receive and send mail in it. */
export interface Desk {
  id: string;
  address: string;
  path: string;
  /** Receives a mail, and returns the id of its message. */
  arrive(mail?: Mail): Promise<string>;
  reply(
    messageId: string,
    body?: object,
    by?: HttpApi,
    how?: string,
    key?: string,
  ): Promise<Result>;
  send(body: object, by?: HttpApi, key?: string): Promise<Result>;
  email(messageId: string | null): Promise<EmailProjection>;
}

export async function deskOf(
  { test, api }: { test: TestApp; api: HttpApi },
  slug = 'desk',
): Promise<Desk> {
  const { app, operator } = test;
  const mailbox = await createMailbox(app, operator, { slug, displayName: 'The desk' });
  const path = `/v1/mailboxes/${mailbox.id}`;
  const address = mailbox.primaryAddress;
  const post = (url: string, body: object, by: HttpApi, key?: string) =>
    by.post<ReplyResult & Problem>(url, body, {
      ...(key !== undefined && { headers: { 'idempotency-key': key } }),
    });
  return {
    id: mailbox.id,
    address,
    path,
    arrive: (mail = {}) => arrive(app, { rcpt: [address], to: address, ...mail }),
    reply: (messageId, body = { text: 'Thank you' }, by = api, how = 'reply', key) =>
      post(`${path}/messages/${messageId}/${how}`, body, by, key),
    send: (body, by = api, key) => post(`${path}/messages`, body, by, key),
    email: async (messageId) =>
      (await api.get<EmailProjection>(`/v1/messages/${messageId}/email`)).body,
  };
}

/** Calls the API with a key that is created for it. */
export async function apiOf(
  { test, api }: { test: TestApp; api: HttpApi },
  input: CreateKey,
): Promise<HttpApi> {
  const { key } = await createKey(test.app, test.operator, { role: 'developer', ...input });
  return api.as(key ?? '');
}

/** Counts the rows of each table that a send or a proposal writes. */
export async function rowsIn({ app }: TestApp): Promise<Record<string, number>> {
  const names = ['messages', 'deliveries', 'mailbox_actions', 'mailbox_proposals', 'drafts'];
  const found: Record<string, number> = {};
  for (const name of names) {
    const query = sql<{ n: number }>`select count(*) as n from ${sql.table(name)}`;
    found[name] = Number((await query.execute(app.store.db)).rows[0]?.n);
  }
  return found;
}

export type Listed<Item> = Page<Item> & { nextCursor: string | null };
