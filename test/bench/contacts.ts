// The cost of contacts, by hand: npx node --expose-gc test/bench/contacts.ts [rows [imported]]. An import
// (contacts a second), pages of the list by each filter among a million, an export and the memory it takes,
// and sends to contacts beside sends to addresses. On SQLite, in this process.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import { loadConfig } from '../../src/core/config/config.ts';
import { sendPayload } from '../../src/outbound/messages/send-schema.ts';
import { sendMessage } from '../../src/outbound/sending/send.ts';
import { listContacts } from '../../src/people/contacts/contacts.ts';
import { exportContacts } from '../../src/people/contacts/export.ts';
import { importContacts } from '../../src/people/contacts/import.ts';
import { listContactsQuery } from '../../src/people/contacts/schema.ts';
import { createLogger } from '../../src/platform/runtime/log.ts';
import { firstStart } from '../../src/service/first-start.ts';
import { openService } from '../../src/service/service.ts';
import { median, say } from './progress.ts';

const rows = Number(process.argv[2] ?? 1_000_000);
/** Count of contacts that come by an import; the others are copied in the store. */
const imported = Number(process.argv[3] ?? 100_000);
const asked = 15;
const sends = 4_000;
const atOnce = 64;
const rounds = 5;

const first = ['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Margaret'];
const last = ['Lovelace', 'Hopper', 'Turing', 'Dijkstra', 'Liskov', 'Knuth', 'Hamilton'];

/** The file in pieces of 64 KB, never whole. */
async function* file(): AsyncGenerator<Buffer> {
  let text = 'email,externalId,firstName,lastName,company,city,tags\n';
  for (let i = 0; i < imported; i++) {
    const unique = (i * 2_654_435_761) % 4_294_967_296;
    text +=
      `u${unique}@example${i % 97}.com,crm-${i},${first[i % 7]},${last[(i >> 3) % 7]},Company ${i % 500},` +
      `City ${i % 300},${i % 2 ? 'customer' : 'lead'}\n`;
    if (text.length < 65_536) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}

async function measureImport(app: App, caller: Caller, what: string): Promise<void> {
  const start = performance.now();
  const report = await importContacts(app, caller, file(), { dryRun: false });
  const seconds = (performance.now() - start) / 1_000;
  const rate = Math.round(imported / seconds).toLocaleString('en');
  say(`import ${what}: ${rate} contacts/s (${JSON.stringify({ ...report, rows: undefined })})`);
}

/** Copies of those that were imported, until there are as many as are asked for. */
async function fillUp({ store }: App): Promise<void> {
  const copies = Math.ceil(rows / imported);
  for (let copy = 1; copy < copies; copy++) {
    const digits = String(copy).padStart(3, '0');
    const mark = sql.lit(`-${digits}`);
    const isOriginal = (id: string) => sql`${sql.ref(id)} < 'contact_z'`;
    const copyOf = (id: string) =>
      sql`'contact_z' || ${sql.lit(digits)} || substr(${sql.ref(id)}, 13)`;
    await store.write(async (trx) => {
      await sql`insert into contacts select ${copyOf('id')}, organization_id, name, display_name, avatar,
        external_id || ${mark}, is_archived, profile, preferences, tags, metadata, created_at, updated_at
        from contacts where ${isOriginal('id')}`.execute(trx);
      await sql`insert into contact_identities select organization_id, folded_identifier || ${mark},
        id || ${mark}, ${copyOf('contact_id')}, position, identifier || ${mark}, verified_at
        from contact_identities where ${isOriginal('contact_id')}`.execute(trx);
      await sql`insert into contact_tags select organization_id, tag, ${copyOf('contact_id')}
        from contact_tags where ${isOriginal('contact_id')}`.execute(trx);
      await sql`insert into contact_words select organization_id, word, ${copyOf('contact_id')}
        from contact_words where ${isOriginal('contact_id')}`.execute(trx);
    });
  }
  await store.write((trx) => sql`update contact_counts set count = count * ${copies}`.execute(trx));
}

async function measurePages(app: App, caller: Caller): Promise<void> {
  const filters: Record<string, object> = {
    'first page': {},
    'tag=customer': { tag: 'customer' },
    'tag=customer, page 1,000': { tag: 'customer', page: 1_000 },
    email: { email: 'u0@example0.com' },
    externalId: { externalId: 'crm-7' },
    'q=ada love': { q: 'ada love' },
    'status=active': { status: 'active' },
    'status=bounced': { status: 'bounced' },
    'status=archived': { status: 'archived' },
    'tag, status=bounced': { tag: 'customer', status: 'bounced' },
  };
  for (const [name, filter] of Object.entries(filters)) {
    const query = listContactsQuery.parse(filter);
    const times: number[] = [];
    for (let i = 0; i < asked; i++) {
      const start = performance.now();
      await listContacts(app, caller, query);
      times.push(performance.now() - start);
    }
    say(`page by ${name}: ${median(times).toFixed(2)} ms`);
  }
}

async function measureExport(app: App, caller: Caller): Promise<void> {
  for (const format of ['csv', 'ndjson'] as const) {
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    let most = before;
    let bytes = 0;
    const start = performance.now();
    for await (const { text } of exportContacts(app, caller, { format })) {
      bytes += text.length;
      most = Math.max(most, process.memoryUsage().rss);
    }
    const seconds = (performance.now() - start) / 1_000;
    const more = ((most - before) / 1e6).toFixed(0);
    const rate = Math.round(rows / seconds).toLocaleString('en');
    say(`export ${format}: ${rate}/s, ${(bytes / 1e6).toFixed(0)} MB, ${more} MB more memory`);
  }
}

/** Sends a second, 64 at once. */
async function rateOf(app: App, caller: Caller, to: readonly object[]): Promise<number> {
  const email = { subject: 's', text: 't' };
  let next = 0;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let i = next++; i < sends; i = next++) {
        const one = to[i % to.length];
        const payload = sendPayload.parse({ channel: 'email', to: [one], email });
        await sendMessage(app, caller, payload, null);
      }
    }),
  );
  return sends / ((performance.now() - start) / 1_000);
}

async function measureSends(app: App, caller: Caller): Promise<void> {
  const page = listContactsQuery.parse({ limit: 100 });
  const { items } = await listContacts(app, caller, page);
  const plain = items.map(({ identities }) => ({ email: identities[0]?.identifier }));
  const named = items.map(({ id }) => ({ contactId: id }));
  const ratios: number[] = [];
  await rateOf(app, caller, plain);
  for (let i = 0; i < rounds; i++) {
    const rates = [await rateOf(app, caller, plain), await rateOf(app, caller, named)];
    ratios.push((rates[1] ?? 0) / (rates[0] ?? 1));
    say(`sends/s: plain ${rates[0]?.toFixed(0)}, to contacts ${rates[1]?.toFixed(0)}`);
  }
  say(`sends to contacts: ${median(ratios).toFixed(3)} of plain ones`);
}

const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-contacts-'));
const { config } = loadConfig({
  env: {},
  cwd: dataDir,
  overrides: { dataDir, http: { port: 0 } },
});
const app = await openService(config, await createLogger({ level: 'silent', pretty: false }));
try {
  const started = await firstStart(app);
  const caller = await createAuthenticator(app).authenticate(started?.apiKey ?? '');
  if (!caller) throw new Error('The first start made no key');
  await measureImport(app, caller, 'of new contacts');
  await measureImport(app, caller, 'of the same again');
  await fillUp(app);
  await measurePages(app, caller);
  await measureExport(app, caller);
  await measureSends(app, caller);
} finally {
  await app.close();
  rmSync(dataDir, { recursive: true });
}
