// `npx node test/bench/extensions.ts`: the cost of installations of extensions, on SQLite. The check of a request by
// an installation beside a plain key (at most 5 µs more), the cut of an event (at most 20 µs), and sends and events of an
// organization with 10,000 installations beside none. Figures are printed, never asserted.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { eventKinds } from '../../daemon/http/event-kinds.ts';
import { refusedAtDoor } from '../../src/access/keys/constraints.ts';
import { operatorOf } from '../../src/access/keys/roles.ts';
import type { Caller } from '../../src/core/api/route.ts';
import { loadConfig } from '../../src/core/config/config.ts';
import { createExtension } from '../../src/extensions/extensions.ts';
import { install } from '../../src/extensions/installations.ts';
import { publishVersion } from '../../src/extensions/versions.ts';
import { record, told } from '../../src/history/events/record.ts';
import { shownData } from '../../src/history/events/shown-data.ts';
import { sendPayload } from '../../src/outbound/messages/send-schema.ts';
import { sendMessage } from '../../src/outbound/sending/send.ts';
import { contactCreated } from '../../src/people/contacts/events.ts';
import { createLogger } from '../../src/platform/runtime/log.ts';
import { firstStart } from '../../src/service/first-start.ts';
import { openService } from '../../src/service/service.ts';
import { cutBody } from '../../src/webhooks/body.ts';

const installations = 10_000;
const calls = 1_000_000;
const sends = 2_000;

/** Returns the µs of a call. */
function timeOf(work: () => unknown, count: number): number {
  for (let i = 0; i < count / 10; i++) work();
  const started = performance.now();
  for (let i = 0; i < count; i++) work();
  return ((performance.now() - started) * 1_000) / count;
}

function print(what: string, us: number, more = ''): void {
  console.log(`${what.padEnd(48)} ${us.toFixed(2)} µs${more}`);
}

function measureChecks(): void {
  const plain: Caller = {
    ...operatorOf('org_06dq2k0qz8h3v5m1r9t4w7xy'),
    permissions: { mailboxes: ['read', 'send'], contacts: ['read'] },
  };
  const id = 'mbx_06dq2k0qz8h3v5m1r9t4w7xy';
  const bound: Caller = {
    ...plain,
    constraints: { mailboxIds: [id] },
    sendMode: 'approval',
    installation: { id: 'exti_06dq2k0qz8h3v5m1r9t4w7xy', events: ['contact.created'] },
  };
  const place = { method: 'GET', path: '/v1/mailboxes/{id}/threads', id } as const;
  const door = (caller: Caller) => () => refusedAtDoor(caller, '::1', 'mailboxes:read', place);
  print('check of a plain key', timeOf(door(plain), calls));
  print('check of an installation with a scope', timeOf(door(bound), calls));
  const cuts = eventKinds.map(({ type, sample }) => {
    const body = JSON.stringify({ type, data: sample });
    const data = sample as object;
    return [
      timeOf(() => shownData(type, data, {}), calls / 100),
      timeOf(() => cutBody(body, type, {}), calls / 100),
    ] as const;
  });
  for (const [index, what] of ['cut of an event', 'cut of a body to post'].entries()) {
    const times = cuts.map((one) => one[index] ?? 0);
    const mean = times.reduce((sum, us) => sum + us, 0) / times.length;
    print(what, mean, `, the slowest kind ${Math.max(...times).toFixed(2)} µs`);
  }
}

const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const { config } = loadConfig({ env: {}, cwd: dataDir, overrides: { dataDir } });
const app = await openService(config, await createLogger({ level: 'silent', pretty: false }));
try {
  await firstStart(app);
  const { rows } = await sql<{ id: string }>`select id from organizations`.execute(app.store.db);
  const operator = operatorOf(rows[0]?.id ?? '');
  const payload = sendPayload.parse({
    ...{ channel: 'email', to: [{ email: 'inbox@sandbox.test' }] },
    email: { subject: 'Hello', text: 'Hello' },
  });
  const measureWork = async (what: string) => {
    const work = {
      'send of a message': () => sendMessage(app, operator, payload, null),
      'record of an event that nobody wants': () =>
        app.store.write((trx) =>
          record(app, trx, operator, {
            subject: 'contact_06dq2k0qz8h3v5m1r9t4w7xy',
            event: told(contactCreated, contactCreated.sample),
          }),
        ),
    };
    for (const [name, run] of Object.entries(work)) {
      for (let i = 0; i < sends / 10; i++) await run();
      const started = performance.now();
      for (let i = 0; i < sends; i++) await run();
      print(`${name}, ${what}`, ((performance.now() - started) * 1_000) / sends);
    }
  };
  measureChecks();
  await measureWork('no installation');
  const { id: extensionId } = await createExtension(app, operator, {
    ...{ name: 'bench', runtime: 'webhook' },
  });
  const asked = { permissions: ['mailboxes:read'], events: ['domain.held'] };
  const version = { version: '1.0.0', ...asked, sendModes: ['none' as const] };
  await publishVersion(app, operator, extensionId, version);
  const acceptPermissions = ['permission:mailboxes:read', 'event:domain.held'];
  const started = performance.now();
  for (let i = 0; i < installations; i++) {
    const webhookUrl = 'https://hooks.example.com/events';
    await install(app, operator, { extensionId, acceptPermissions, webhookUrl });
  }
  print('installation', ((performance.now() - started) * 1_000) / installations);
  await measureWork(`${installations} installations`);
} finally {
  await app.close();
  rmSync(dataDir, { recursive: true, force: true });
}
