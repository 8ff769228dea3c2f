// Mail received at inbox@sandbox.test without a listener, and its stored projection.
import { sql } from 'kysely';
import type { App } from '../../../src/core/app.ts';
import { receive } from '../../../src/inbox/receiving/receive.ts';
import { resolveAddressee } from '../../../src/inbox/receiving/resolve.ts';
import { inboundEnvelope } from '../../support/inbound-envelope.ts';

/** Stores the mail as the listener does before its 250; returns the id of the message. */
export async function receiveMail(app: App, lines: readonly string[]): Promise<string> {
  const addressee = await resolveAddressee(app, 'inbox@sandbox.test');
  if (addressee.kind !== 'mailbox') throw new Error('there is no mailbox');
  const envelope = inboundEnvelope([addressee], 'ada@example.com');
  const result = await receive(app, envelope, Buffer.from(`${lines.join('\r\n')}\r\n`));
  if (result.kind !== 'stored') throw new Error(result.text);
  return result.messageIds[0] ?? '';
}

/** A short mail whose text is `text`. */
export function shortMail(text: string): string[] {
  return ['From: ada@example.com', `Subject: ${text}`, '', text];
}

/** Columns of a projection that the tests compare. */
export interface ProjectionState {
  id: string;
  due: number | null;
  tries: number;
  isParsed: boolean;
  text: string | null;
}

/** Returns all projections, in the order of their messages. */
export async function projectionStates({ store }: App): Promise<ProjectionState[]> {
  const { rows } = await sql<Omit<ProjectionState, 'isParsed'> & { at: number | null }>`
    select message_id as id, due_at as due, tries, parsed_at as at, text
    from email_projections order by message_id`.execute(store.db);
  return rows.map(({ at, ...row }) => ({ ...row, isParsed: at !== null }));
}

/** Counts the parses of the worker from now on. */
export function countParses({ mime }: App): { count: number } {
  const counted = { count: 0 };
  const { parse } = mime;
  Object.assign(mime, {
    parse(...given: Parameters<typeof parse>) {
      counted.count++;
      return parse(...given);
    },
  });
  return counted;
}
