// A service that mails over a relay, with persons in organizations.
import { sql } from 'kysely';
import { newPerson } from '../../../../src/access/members/persons.ts';
import { insertPerson, members } from '../../../../src/access/members/queries.ts';
import type { Caller } from '../../../../src/core/api/route.ts';
import type { App } from '../../../../src/core/app.ts';
import type { ConfigInput } from '../../../../src/core/config/config.ts';
import { addDomain } from '../../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../../src/identity/domains/verification.ts';
import { createSender } from '../../../../src/identity/senders/senders.ts';
import {
  askForLink,
  type LinkRequest,
  linksAreMade,
} from '../../../../src/outbound/sending/people/sign-in.ts';
import type { TestStore } from '../../../support/command.ts';
import { type RunningPipeline, startPipeline } from '../../../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../../../support/smtp-sink.ts';
import { type TestApp, type TestAppOptions, testApp } from '../../../support/test-app.ts';

export const visitor = {
  browser: 'Firefox on Windows',
  address: '203.0.113.9',
  browserToken: null,
};

/** A mail as the foreign server got it. */
export interface Arrived {
  to: string;
  from: string;
  subject: string;
  text: string;
  /** Token of the link; empty without a link. */
  token: string;
}

export interface PeopleWorld {
  test: TestApp;
  app: App;
  sink: SmtpSink;
  /** The running delivery. */
  pipeline(): RunningPipeline;
  /** Stops the delivery, and starts another after a time. */
  rest(afterwards?: () => Promise<unknown>): Promise<void>;
  /** Makes an active member; returns the id of the person. */
  join(email: string, more?: { organizationId?: string; role?: string }): Promise<string>;
  /** Asks for a link to sign in, and waits until it is in the queue. */
  ask(email: string, more?: Partial<LinkRequest>): Promise<void>;
  /** Returns the mails that arrived since the last call. */
  arrived(): Promise<Arrived[]>;
  close(): Promise<void>;
}

/** Verifies a domain, and makes a sender on it. */
export async function ownDomain(app: App, caller: Caller, domain: string): Promise<void> {
  const { id } = await addDomain(app, caller, { domain, dkim: 'ed25519' });
  await verifyDomain(app, caller, id, { force: true });
}

export async function peopleWorld(
  store: TestStore,
  { delivery, ...config }: ConfigInput = {},
  options: TestAppOptions = {},
): Promise<PeopleWorld> {
  const sink = await startSmtpSink();
  const relay = { host: sink.host, port: sink.port };
  const test = await testApp({
    ...options,
    store,
    config: {
      http: { publicUrl: 'https://mail.acme.example' },
      ...config,
      delivery: { mode: 'relay', relay, ...delivery },
    },
  });
  const { app, operator } = test;
  await ownDomain(app, operator, 'acme.example');
  await createSender(app, operator, { email: 'console@acme.example', isDefault: true });
  let pipeline = await startPipeline(app);
  let seen = 0;
  return {
    test,
    app,
    sink,
    pipeline: () => pipeline,
    async rest(afterwards) {
      await pipeline.close();
      await afterwards?.();
      pipeline = await startPipeline(app);
    },
    join: (email, more) => join(app, test.caller.organizationId, email, more),
    async ask(email, more) {
      askForLink(app, { ...visitor, email, ...more });
      await linksAreMade(app);
    },
    async arrived() {
      await pipeline.idle();
      const { rows } = await sql<{ count: number }>`
        select count(*) as count from deliveries where status in ('sent', 'delivered')`.execute(
        app.store.db,
      );
      const mails = await sink.waitFor(Number(rows[0]?.count ?? 0));
      const fresh = mails.slice(seen);
      seen = mails.length;
      return fresh.map(({ raw, recipients }) =>
        arrivedOf(raw.toString('latin1'), recipients[0] ?? ''),
      );
    },
    async close() {
      await pipeline.close();
      await test.close();
      await sink.close();
    },
  };
}

function arrivedOf(raw: string, to: string): Arrived {
  const text = raw.replaceAll(/=\r\n/g, '').replaceAll('=3D', '=');
  const field = (name: string) => new RegExp(`^${name}: (.*)\\r$`, 'm').exec(text)?.[1] ?? '';
  const [, token = ''] = /\/console\/(?:link|invitation)\/([\w-]{43})\s/.exec(text) ?? [];
  return { to, from: field('From'), subject: field('Subject'), text, token };
}

async function join(
  app: App,
  own: string,
  email: string,
  { organizationId = own, role = 'editor' } = {},
): Promise<string> {
  const person = newPerson(app, email);
  const now = app.clock.now();
  await app.store.write(async (trx) => {
    await insertPerson(trx, person);
    await members.insert(trx, {
      id: app.newId({ prefix: 'mem' }),
      organization_id: organizationId,
      person_id: person.id,
      email,
      name: 'Ada',
      role,
      status: 'active',
      invited_by: null,
      invitation_hash: null,
      invitation_token: null,
      invitation_message_id: null,
      expires_at: null,
      accepted_at: now,
      last_seen_at: null,
      created_at: now,
      updated_at: now,
    });
  });
  return person.id;
}
