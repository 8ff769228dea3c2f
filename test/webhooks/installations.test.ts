// What an installation hears by its webhook, by the log and by the stream: the events of its
// version, of its mailboxes, cut to what its permissions show, and nothing once it is disabled.
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { routes } from '../../daemon/http/routes.ts';
import { createHttpServer, type HttpServer } from '../../daemon/http/server.ts';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import type { Permission } from '../../src/core/api/permission.ts';
import { uninstall } from '../../src/extensions/installation-routes.ts';
import type { Install, Installed } from '../../src/extensions/installation-schema.ts';
import { disableInstallation, enableInstallation } from '../../src/extensions/standing.ts';
import { upgradeInstallation } from '../../src/extensions/upgrade.ts';
import type { EventType } from '../../src/history/events/names.ts';
import { record } from '../../src/history/events/record.ts';
import type { LogItem } from '../../src/history/events/schema.ts';
import { createMailbox } from '../../src/identity/mailboxes/mailboxes.ts';
import { createNamespace } from '../../src/identity/mailboxes/namespaces.ts';
import { createWebhookLoop, type WebhookLoop } from '../../src/webhooks/posting/loop.ts';
import { signatureProblem } from '../../src/webhooks/posting/signature.ts';
import type { WebhookDelivery } from '../../src/webhooks/schema.ts';
import { makeInstallation, publish } from '../extensions/fixtures.ts';
import { type RawConnection, rawConnection } from '../http/raw-socket.ts';
import { stores } from '../support/command.ts';
import { eachApi } from '../support/each-app.ts';
import { passingTime } from '../support/virtual-clock.ts';
import { loopbackConfig, type Receiver, receiver, status, until } from './engine.ts';

const mark = 'secret of the resource';

const inOrder = (a: string, b: string) => (a < b ? -1 : Number(a > b));

describe.each(stores)('an installation on %s', (store) => {
  const world = eachApi({ store, config: loopbackConfig });
  const { test, api } = world;
  let hook: Receiver;
  let loop: WebhookLoop;
  let http: HttpServer;
  let url: string;
  const open: RawConnection[] = [];
  beforeEach(async () => {
    hook = await receiver();
    loop = createWebhookLoop(test.app);
    await loop.start();
    const authenticator = createAuthenticator(test.app);
    http = createHttpServer(test.app, {
      routes,
      authenticate: (plaintext) => authenticator.authenticate(plaintext),
      isQueueRunning: () => true,
    });
    ({ url } = await http.listen());
  });
  afterEach(async () => {
    for (const { socket } of open.splice(0)) socket.destroy();
    await http.close(0);
    await loop.stop(0);
    await hook.close();
  });

  const install = async (
    permissions: readonly Permission[],
    events: readonly EventType[],
    more: Partial<Install> = {},
  ) => {
    const asked = { permissions: [...permissions], events: [...events] };
    const input = { webhookUrl: hook.url, sendMode: 'send' as const, ...more };
    return makeInstallation(test.app, test.operator, asked, input);
  };
  const happen = (type: EventType, subject: string, data: object = { id: subject, name: mark }) =>
    test.app.store.write((trx) =>
      record(test.app, trx, test.operator, { subject, event: { type, data, facts: null } }),
    );
  const contact = () => test.app.newId({ prefix: 'contact' });
  const posted = async (count: number) => {
    await passingTime(
      test.clock,
      until(() => hook.received.length >= count),
      100,
    );
    return hook.received.map(({ body }) => JSON.parse(body) as LogItem);
  };
  const deliveries = async ({ webhook }: Installed) => {
    const path = `/v1/webhooks/${webhook?.endpointId}/deliveries`;
    const { body } = await api.get<{ items: WebhookDelivery[] }>(path);
    return body.items;
  };
  const streamOf = async ({ key }: Pick<Installed, 'key'>) => {
    const head = ['GET /v1/events/stream HTTP/1.1', 'host: svc', `x-api-key: ${key}`];
    const stream = rawConnection(url, `${head.join('\r\n')}\r\n\r\n`);
    open.push(stream);
    await stream.untilReceived('retry: ');
    return stream;
  };
  const eventsIn = (text: string) =>
    [...text.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json) as LogItem);

  it('gets its events signed, and only those of its version', async () => {
    const { installed } = await install(['contacts:read'], ['contact.created']);
    const id = contact();
    await happen('contact.deleted', id);
    await happen('contact.created', id);
    const [event] = await posted(1);
    expect(event).toMatchObject({ type: 'contact.created', data: { id, name: mark } });
    const [{ headers, body } = { headers: {}, body: '' }] = hook.received;
    expect(signatureProblem(installed.webhook?.secret ?? '', headers, body)).toBeNull();
    expect((await deliveries(installed)).map(({ eventType }) => eventType)).toEqual([
      'contact.created',
    ]);
  });

  it('gets only ids of resources that it may not read, the same bytes at each attempt', async () => {
    const { installed } = await install(['messages:read'], ['contact.created']);
    hook.answer = status(500);
    const id = contact();
    await happen('contact.created', id);
    await posted(2);
    expect(hook.received[0]?.body).toBe(hook.received[1]?.body);
    expect(JSON.parse(hook.received[0]?.body ?? '')).toMatchObject({ data: { id } });
    expect(hook.received.map(({ body }) => body).join()).not.toContain(mark);
    const [delivery] = await deliveries(installed);
    hook.answer = status(204);
    const before = hook.received.length;
    const path = `/v1/webhooks/${installed.webhook?.endpointId}/deliveries/${delivery?.id}`;
    await api.post(`${path}/redeliver`, undefined);
    expect(hook.received.slice(before).map(({ body }) => body)).toEqual([hook.received[0]?.body]);
  });

  it('shares the stored body with an ordinary webhook, which gets it whole', async () => {
    await install([], ['contact.created']);
    await api.post('/v1/webhooks', { url: `${hook.url}/all`, events: ['*'] });
    await happen('contact.created', contact());
    await posted(2);
    const bodies = hook.received.toSorted((a, b) => a.url.length - b.url.length);
    expect(bodies.map(({ body }) => body.includes(mark))).toEqual([false, true]);
  });

  it('gets the events of the mailboxes of its scope alone', async () => {
    const { app, operator } = test;
    const { id: namespaceId } = await createNamespace(app, operator, { name: 'agents' });
    const desk = await createMailbox(app, operator, { slug: 'desk', namespaceId });
    const other = await createMailbox(app, operator, { slug: 'other' });
    const events = ['mailbox.updated', 'contact.created'] as const;
    const scopes = [
      { mailboxIds: [desk.id] },
      { namespaceId },
      { mailboxIds: [other.id] },
      undefined,
    ];
    const made = [];
    for (const scope of scopes) {
      made.push((await install(['mailboxes:read'], events, { ...(scope && { scope }) })).installed);
    }
    await happen('mailbox.updated', desk.id);
    await happen('mailbox.updated', other.id);
    await happen('contact.created', contact());
    const heard = await Promise.all(
      made.map(async (one) =>
        (await deliveries(one)).map(({ eventType }) => eventType).toSorted(inOrder),
      ),
    );
    expect(heard).toEqual([
      ['mailbox.updated'],
      ['mailbox.updated'],
      ['mailbox.updated'],
      ['contact.created', 'mailbox.updated', 'mailbox.updated'],
    ]);
  });

  it('gets nothing while it is disabled, and afterwards what waited', async () => {
    const { app, operator } = test;
    const { installed } = await install(['contacts:read'], ['contact.created']);
    hook.answer = status(503);
    await happen('contact.created', contact());
    await posted(1);
    await disableInstallation(app, operator, installed.id);
    await happen('contact.created', contact());
    const before = hook.received.length;
    await test.clock.advance(24 * 3_600_000);
    await loop.idle();
    expect(hook.received).toHaveLength(before);
    expect((await deliveries(installed)).map((one) => one.status)).toEqual(['pending']);
    hook.answer = status(204);
    await enableInstallation(app, operator, installed.id);
    await posted(before + 1);
    await loop.idle();
    expect((await deliveries(installed)).map((one) => one.status)).toEqual(['delivered']);
  });

  it('is failing once its endpoint is disabled for that, and active once it is enabled', async () => {
    const { installed } = await install(['contacts:read'], ['contact.created']);
    hook.answer = status(410);
    await happen('contact.created', contact());
    await posted(1);
    const path = `/v1/extension-installations/${installed.id}`;
    const shown = async () => (await api.get<{ status: string }>(path)).body.status;
    await passingTime(
      test.clock,
      until(async () => (await shown()) === 'failing'),
      100,
    );
    expect((await api.as(installed.key).get('/v1/contacts')).status).toBe(200);
    hook.answer = status(204);
    await api.post(`${path}/enable`, undefined);
    expect(await shown()).toBe('active');
    await happen('contact.created', contact());
    await posted(2);
  });

  it('loses waiting posts of an event that an upgrade took', async () => {
    const { app, operator } = test;
    const events = ['contact.created', 'contact.deleted'] as const;
    /** Read without a request, whose time limit would pass meanwhile. */
    const standing = async () => {
      const { rows } = await sql<{ type: string; status: string }>`
        select event_type as type, status from webhook_deliveries order by event_type
        `.execute(app.store.db);
      return rows.map((row) => `${row.type} ${row.status}`).join(', ');
    };
    const { extension, installed } = await install(['contacts:read'], events);
    hook.answer = status(503);
    for (const type of events) await happen(type, contact());
    await posted(2);
    await publish(app, operator, extension.id, {
      ...{ version: '1.1.0', permissions: ['contacts:read'], events: ['contact.deleted'] },
    });
    await upgradeInstallation(app, operator, installed.id, {});
    hook.answer = status(204);
    await passingTime(
      test.clock,
      until(async () => !(await standing()).includes('pending')),
      60_000,
    );
    expect(await standing()).toBe('contact.created cancelled, contact.deleted delivered');
  });

  describe('that reads the stream', () => {
    const hosted = (permissions: readonly Permission[], events: readonly EventType[]) =>
      makeInstallation(test.app, test.operator, {
        ...{ permissions: [...permissions], events: [...events] },
      });

    it('needs no permission for it, and gets its events cut', async () => {
      const { installed } = await hosted(['messages:read'], ['contact.created']);
      const stream = await streamOf(installed);
      await happen('contact.deleted', contact());
      const id = contact();
      await happen('contact.created', id);
      const text = await passingTime(test.clock, stream.untilReceived(id), 100);
      expect(eventsIn(text).map(({ type, data }) => [type, data])).toEqual([
        ['contact.created', { id }],
      ]);
    });

    it('hears by the next second what an upgrade gave, and nothing that it took', async () => {
      const { app, operator } = test;
      const { extension, installed } = await hosted(['contacts:read'], ['contact.created']);
      const stream = await streamOf(installed);
      await publish(app, operator, extension.id, {
        ...{ version: '1.1.0', permissions: [], events: ['contact.deleted'] },
      });
      const acceptPermissions = ['event:contact.deleted'];
      await upgradeInstallation(app, operator, installed.id, { acceptPermissions });
      const [taken, given] = [contact(), contact()];
      await happen('contact.created', taken);
      await happen('contact.deleted', given);
      const text = await passingTime(test.clock, stream.untilReceived(given), 100);
      expect(eventsIn(text).map(({ type, data }) => [type, data])).toEqual([
        ['contact.deleted', { id: given }],
      ]);
    });

    it.each([
      ['disabled', (id: string) => disableInstallation(test.app, test.operator, id)],
      ['uninstalled', (id: string) => uninstall(test.app, test.operator, id)],
    ])('loses it within a second once it is %s', async (_what, end) => {
      const { installed } = await hosted(['contacts:read'], ['contact.created']);
      const stream = await streamOf(installed);
      await end(installed.id);
      await test.clock.advance(1_000);
      await passingTime(test.clock, stream.untilClosed(), 10);
      await happen('contact.created', contact());
      expect(eventsIn(stream.text())).toEqual([]);
    });
  });

  it('lists of the log what it hears, and needs webhooks:read for that', async () => {
    const permissions = ['webhooks:read', 'messages:read'] as const;
    const { installed } = await install(permissions, ['contact.created']);
    const { installed: deaf } = await install(['messages:read'], ['contact.created']);
    const id = contact();
    await happen('contact.created', id);
    await happen('contact.deleted', contact());
    const own = api.as(installed.key);
    const { body } = await own.get<{ items: LogItem[] }>('/v1/events');
    expect(body.items.map(({ type, data }) => [type, data])).toEqual([['contact.created', { id }]]);
    const none = await own.get<{ items: LogItem[] }>('/v1/events?type=contact.deleted');
    expect(none.body.items).toEqual([]);
    expect((await api.as(deaf.key).get('/v1/events')).status).toBe(403);
  });

  it('hears the same by its webhook, its stream and the log', async () => {
    const { app, operator } = test;
    const desk = await createMailbox(app, operator, { slug: 'desk' });
    const other = await createMailbox(app, operator, { slug: 'other' });
    const types = ['mailbox.updated', 'mailbox.paused', 'contact.created', 'domain.held'] as const;
    const reads = ['mailboxes:read', 'contacts:read', 'domains:read'] as const;
    const subjectOf = (type: EventType, isOwn: boolean) => {
      if (!type.startsWith('mailbox.')) return contact();
      return isOwn ? desk.id : other.id;
    };
    await fc.assert(
      fc.asyncProperty(
        fc.subarray([...types]),
        fc.subarray([...reads]),
        fc.boolean(),
        fc.array(fc.tuple(fc.constantFrom(...types), fc.boolean()), { maxLength: 5 }),
        async (events, permissions, isScoped, story) => {
          const scope = isScoped ? { scope: { mailboxIds: [desk.id] } } : {};
          const granted = [...permissions, 'webhooks:read'] as const;
          const { installed } = await install(granted, events, scope);
          const stream = await streamOf(installed);
          const before = hook.received.length;
          const expected: unknown[] = [];
          for (const [type, isOwn] of story) {
            const subject = subjectOf(type, isOwn);
            await happen(type, subject);
            const isReached = !isScoped || subject === desk.id;
            if (!(events.includes(type) && isReached)) continue;
            const isWhole = permissions.some((one) =>
              type.startsWith(one.replace(/e?s:read$/, '')),
            );
            expected.push([type, isWhole ? { id: subject, name: mark } : { id: subject }]);
          }
          const seen = (items: readonly LogItem[]) => items.map(({ type, data }) => [type, data]);
          const posts = await posted(before + expected.length);
          await loop.idle();
          const sorted = (list: unknown[]) =>
            list.map((one) => JSON.stringify(one)).toSorted(inOrder);
          expect(sorted(seen(posts.slice(before)))).toEqual(sorted(expected));
          await passingTime(
            test.clock,
            until(() => eventsIn(stream.text()).length >= expected.length),
            100,
          );
          expect(sorted(seen(eventsIn(stream.text())))).toEqual(sorted(expected));
          if (!isScoped) {
            const { body } = await api
              .as(installed.key)
              .get<{ items: LogItem[] }>(`/v1/events?limit=${Math.max(1, expected.length)}`);
            if (expected.length > 0) expect(sorted(seen(body.items))).toEqual(sorted(expected));
          }
          stream.socket.destroy();
          await uninstall(app, operator, installed.id);
        },
      ),
      { numRuns: store === 'sqlite' ? 10 : 3 },
    );
  });
});
