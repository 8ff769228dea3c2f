// Streams of mail that leave by smarthosts of their own, chosen by the sender: over real sockets,
// in the daemon's thread.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { stores } from '../../support/command.ts';
import { type DaemonHome, type DaemonProcess, daemonHome } from '../../support/daemon-process.ts';
import { type PostgresSchema, postgresSchema } from '../../support/postgres.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';

describe.each(stores)('routes by sender on %s', (store) => {
  let schema: PostgresSchema | null = null;
  let sinks: Record<'rest' | 'news' | 'billing', SmtpSink>;
  let home: DaemonHome;
  let daemon: DaemonProcess;

  beforeAll(async () => {
    schema = store === 'postgres' ? await postgresSchema(inject('postgresUrl')) : null;
    const [rest, news, billing] = await Promise.all([1, 2, 3].map(() => startSmtpSink()));
    if (!rest || !news || !billing) throw new Error('no sinks');
    sinks = { rest, news, billing };
    const to = ({ host, port }: SmtpSink) => ({ via: 'relay', host, port });
    const routes = [
      { from: 'billing@shop.example', ...to(billing) },
      { from: 'news.example', ...to(news) },
    ];
    home = daemonHome({
      SVC_DELIVERY_MODE: 'relay',
      SVC_DELIVERY_RELAY_HOST: rest.host,
      SVC_DELIVERY_RELAY_PORT: String(rest.port),
      SVC_DELIVERY_ROUTES: JSON.stringify(routes),
      ...(schema && { SVC_DATABASE_URL: schema.url }),
    });
    daemon = await home.start();
    for (const domain of ['shop.example', 'news.example']) {
      await home.cli.json(['domains', 'add', domain]);
      await home.cli.json(['domains', 'verify', domain, '--force']);
    }
  });
  afterAll(async () => {
    await home.close();
    await Promise.all(Object.values(sinks).map((sink) => sink.close()));
    await schema?.drop();
  });

  it('carry each stream to its own smarthost, also while they leave together', async () => {
    const senders = {
      rest: 'ada@shop.example',
      news: 'hello@news.example',
      billing: 'billing@shop.example',
    };
    const each = 20;
    await Promise.all(
      Object.values(senders).flatMap((email) =>
        Array.from({ length: each }, async (_, index) => {
          const sent = await daemon.request<Message>('POST', '/v1/messages', {
            body: {
              channel: 'email',
              from: { email },
              to: [{ email: `user${index}@example.com` }],
              email: { subject: `From ${email}`, text: 'Hi' },
            },
          });
          expect(sent.status, JSON.stringify(sent.body)).toBe(201);
        }),
      ),
    );
    for (const [name, email] of Object.entries(senders)) {
      const sink = sinks[name as keyof typeof sinks];
      const mails = await sink.waitFor(each);
      const subjects = new Set(
        mails.map(({ raw }) => /^Subject: (.*)\r$/m.exec(raw.toString())?.[1]),
      );
      expect(subjects).toEqual(new Set([`From ${email}`]));
      expect(sink.received).toBe(each);
    }
  });

  it('keep the lanes of the smarthosts apart: one that is closed holds only its own mail', async () => {
    const stop = sinks.news.on({ verb: 'RCPT' }, '421 4.7.0 too much mail from you');
    const send = (email: string) =>
      daemon.request<Message>('POST', '/v1/messages', {
        body: {
          ...{ channel: 'email', from: { email }, to: [{ email: 'bob@example.com' }] },
          email: { subject: 'Apart', text: 'Hi' },
        },
      });
    // As many faults as the window has places, which grew with the mail of the test before.
    const held = await Promise.all(Array.from({ length: 100 }, () => send('hello@news.example')));
    const pauseOf = async (id: string): Promise<string | null> => {
      const { body } = await daemon.request<Message>('GET', `/v1/messages/${id}`);
      const { waitReason = null, dueAt = null } = body.deliveries[0]?.scheduling ?? {};
      return waitReason === 'provider-unavailable' ? dueAt : null;
    };
    /**
     * Returns a message that waits for the lane, once the pause is long enough to look at it. A
     * tried one waits for its retry.
     */
    const findWaiting = async (): Promise<{ id: string; until: string }> => {
      for (;;) {
        for (const { body } of held) {
          const until = await pauseOf(body.id);
          if (until !== null && Date.parse(until) - Date.now() > 3_000)
            return { id: body.id, until };
        }
      }
    };
    const { id, until } = await findWaiting();
    const before = sinks.billing.received;
    await send('billing@shop.example');
    await sinks.billing.waitFor(before + 1);
    expect(await pauseOf(id)).toBe(until);
    stop();
  });
});
