// Every command that changes data records the change, like routes do (test/http/recorded.test.ts).
// The list of commands is read from the files.
import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliWorkspace, initializedWorkspace, repository } from '../support/cli.ts';

const dkimPem = generateKeyPairSync('ed25519')
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

/** Commands that only read, or change nothing of an organization. */
const changesNothing = [
  ...['audit', 'backup', 'backup verify', 'daemon', 'openapi', 'restore', 'stats', 'usage'],
  ...['storage compact', 'storage move', 'storage usage'],
  ...['dev clock', 'dev reset', 'mcp', 'rehearse', 'messages receipt', 'receipt verify'],
  'events verify',
  'plan show',
  // The table of root keys has its own record: `secret list`.
  ...['secret list', 'secret rotate'],
  // The records: test/access/single-sign-on/persons.test.ts.
  'members unbind',
  ...['config check', 'config example', 'config show', 'migrate status', 'migrate copy'],
  ...['events tail', 'webhooks deliveries', 'webhooks events', 'webhooks list', 'webhooks listen'],
  ...['webhooks show', 'webhooks stats', 'webhooks verify'],
  // Its attempts are kept with the endpoint: test/webhooks/deliveries.test.ts.
  'webhooks redeliver',
  ...['unsubscribe-groups list', 'unsubscribe-groups show', 'unsubscribe-groups members list'],
  ...['saved-replies list', 'saved-replies show'],
  ...['blocks export', 'blocks list', 'blocks show'],
  ...['brands list', 'brands show'],
  ...['groups list', 'groups members', 'groups show'],
  ...['contacts export', 'contacts list', 'contacts show'],
  ...['conversations list', 'conversations show'],
  ...[
    'domains dns',
    'domains list',
    'domains registrar',
    'domains reports',
    'domains show',
    'init',
    'daemon drain',
    'daemon unit',
    'doctor',
    'status',
    'open',
  ],
  // Asks DNS, and changes only the stored results.
  ...['tracking recheck', 'tracking show', 'warming show'],
  // It warns on standard error when no daemon runs: test/cli/sendmail.test.ts.
  'sendmail',
  ...[
    'mailboxes actions',
    'mailboxes actions show',
    'mailboxes activity',
    'mailboxes events',
    'mailboxes list',
  ],
  'mailboxes show',
  // Its decisions are those of approve and reject: test/inbox/approvals/review.test.ts.
  'mailboxes review',
  ...['templates list', 'templates show', 'templates versions', 'templates render'],
  ...['templates lint', 'templates history', 'templates diff', 'templates pull'],
  ...['templates clone', 'families list', 'families show'],
  ...[
    'extensions changes',
    'extensions installation',
    'extensions installations',
    'extensions list',
    'extensions show',
    'extensions versions',
    'campaigns estimate',
    'campaigns list',
    'campaigns recipients',
    'campaigns render',
    'campaigns runs',
  ],
  'campaigns show',
  ...['threads list', 'threads messages', 'threads notes', 'threads show'],
  ...['keys list', 'keys show', 'orgs list', 'orgs show', 'senders list', 'senders show'],
  // Its record: test/service/erasing/member.test.ts.
  'members erase',
  // What it records of a person: test/access/sessions/reset.test.ts.
  'members reset',
  ...['members list', 'members show', 'members resend'],
  // Its records: test/outbound/sending/people/warnings.test.ts.
  'members link',
  // What they record: test/outbound/sending/sender-proof.test.ts.
  ...['senders resend', 'senders verify'],
  ...['messages deliveries', 'messages events', 'messages explain', 'messages list'],
  ...['messages expect', 'messages tail'],
  ...['messages show', 'queue holds', 'queue list', 'queue show', 'queue top'],
];

type Table = 'audit_entries' | 'events' | 'resource_events';
type Ids = (name: string) => string;

/**
 * A change: its command line, standard input, and the table that records it (default: the audit
 * log).
 */
interface Change {
  args: (idOf: Ids) => string[];
  input?: string;
  recordedIn?: Table;
}

const entry = { channel: 'email', email: { subject: 'a', text: 'b' } };
const batch = [{ ...entry, to: [{ email: 'delivered@simulator.test' }] }];

/** In the order of execution: each creates data that later ones need. */
const changes: Readonly<Record<string, Change>> = {
  'orgs create': { args: () => ['--name', 'acme', '--plan', 'growth', '--onboarding', 'pending'] },
  'orgs review': { args: () => ['acme', '--reject'] },
  'orgs reapply': { args: () => ['--org', 'acme', '--expected-generation', '1'] },
  'orgs update': { args: () => ['acme', '--timezone', 'Europe/Berlin'] },
  'orgs pause': { args: () => ['acme'] },
  'orgs resume': { args: () => ['acme'] },
  'keys create': { args: () => ['--role', 'developer'] },
  'keys update': { args: (idOf) => [idOf('keys create'), '--name', 'renamed'] },
  'keys rotate': { args: (idOf) => [idOf('keys create')] },
  'keys revoke': { args: (idOf) => [idOf('keys rotate'), '--yes'] },
  'domains add': { args: () => ['example.com', '--dkim', 'ed25519'] },
  'domains verify': { args: () => ['example.com', '--force'] },
  'domains rotate': { args: () => ['example.com'] },
  'domains dkim import': { args: () => ['example.com', '--selector', 'old', '--key', dkimPem] },
  'tracking enable': { args: () => ['example.com', '--label', 'links'] },
  'tracking disable': { args: () => ['example.com'] },
  'warming start': {
    args: () => [
      ...['example.com', '--identity', 'new', '--initial', '50'],
      ...['--growth', '30', '--target', '5000'],
    ],
  },
  'warming pause': { args: () => ['example.com'] },
  'warming resume': { args: () => ['example.com'] },
  'warming stop': { args: () => ['example.com'] },
  'domains resume': { args: () => ['example.com'] },
  'contacts create': { args: () => ['ada@example.com'] },
  'contacts update': { args: (idOf) => [idOf('contacts create'), '--name', 'Ada'] },
  'contacts tag': { args: (idOf) => [idOf('contacts create'), '--tag', 'vip'] },
  'contacts untag': { args: (idOf) => [idOf('contacts create'), '--tag', 'vip'] },
  'contacts import': { args: () => ['-'], input: 'email\nbob@example.com\n' },
  'groups create': { args: () => ['--name', 'Testers'] },
  'groups update': { args: (idOf) => [idOf('groups create'), '--name', 'Others'] },
  'groups add': {
    args: (idOf) => [idOf('groups create'), '--contact', idOf('contacts create')],
  },
  'groups remove': {
    args: (idOf) => [idOf('groups create'), '--contact', idOf('contacts create')],
  },
  'groups delete': { args: (idOf) => [idOf('groups create'), '--yes'] },
  'unsubscribe-groups create': { args: () => ['--name', 'News', '--confirm'] },
  'unsubscribe-groups members add': {
    args: (idOf) => [...[idOf('unsubscribe-groups create'), '--contact', idOf('contacts create')]],
  },
  'unsubscribe-groups members remove': {
    args: (idOf) => [...[idOf('unsubscribe-groups create'), '--contact', idOf('contacts create')]],
  },
  'saved-replies create': { args: () => ['--name', 'Hours', '--text', 'From 9 to 17.'] },
  'saved-replies update': {
    args: (idOf) => [idOf('saved-replies create'), '--name', 'Opening hours'],
  },
  'saved-replies delete': { args: (idOf) => [idOf('saved-replies create'), '--yes'] },
  'contacts delete': { args: (idOf) => [idOf('contacts create'), '--yes'] },
  'conversations create': { args: () => ['--title', 'A late invoice'] },
  'conversations update': { args: (idOf) => [idOf('conversations create'), '--urgency', 'high'] },
  'conversations tag': { args: (idOf) => [idOf('conversations create'), '--tag', 'vip'] },
  'conversations untag': { args: (idOf) => [idOf('conversations create'), '--tag', 'vip'] },
  'conversations resolve': { args: (idOf) => [idOf('conversations create')] },
  'conversations archive': { args: (idOf) => [idOf('conversations create')] },
  'conversations reopen': { args: (idOf) => [idOf('conversations create')] },
  'conversations delete': { args: (idOf) => [idOf('conversations create'), '--yes'] },
  'templates create': {
    args: () => ['--slug', 'shipped', '--subject', 'Shipped', '--text', 'On its way'],
  },
  'templates publish': { args: () => ['shipped'] },
  'templates push': { args: () => ['shipped-folder'] },
  'templates restore': { args: () => ['shipped', publishedCommit()] },
  'templates update': { args: () => ['shipped', '--name', 'Order shipped'] },
  'templates duplicate': { args: () => ['shipped', '--slug', 'copied'] },
  'families create': { args: () => ['--name', 'Orders'] },
  'families update': { args: (idOf) => [idOf('families create'), '--name', 'Parcels'] },
  'families add': { args: (idOf) => [idOf('families create'), 'shipped'] },
  'families remove': { args: (idOf) => [idOf('families create'), 'shipped'] },
  'families delete': { args: (idOf) => [idOf('families create'), '--yes'] },
  'templates archive': { args: () => ['shipped'] },
  'templates delete': { args: () => ['shipped', '--yes'] },
  'members invite': { args: () => ['ann@example.com', '--role', 'viewer', '--no-mail'] },
  'members update': { args: (idOf) => [idOf('members invite'), '--name', 'Ann'] },
  'members disable': { args: (idOf) => [joined(idOf('members invite'))] },
  'members enable': { args: (idOf) => [idOf('members invite')] },
  'members delete': { args: (idOf) => [idOf('members invite'), '--yes'] },
  'senders create': { args: () => ['--email', 'shop@example.com'] },
  'senders update': { args: (idOf) => [idOf('senders create'), '--name', 'The shop'] },
  'senders delete': { args: (idOf) => [idOf('senders create'), '--yes'] },
  'blocks add': { args: () => ['gone@example.org'] },
  'blocks delete': { args: () => ['gone@example.org', '--yes'] },
  'import templates': {
    args: () => ['--from', 'postmark', '-'],
    input: '{"Name": "Imported", "Subject": "Hi", "HtmlBody": "<p>Hi</p>"}',
  },
  'blocks import': {
    args: () => ['-', '--format', 'plain'],
    input: 'address\nlost@example.org\n',
  },
  'unsubscribe-groups update': {
    args: (idOf) => [idOf('unsubscribe-groups create'), '--name', 'Monthly'],
  },
  'campaigns create': {
    args: (idOf) => [
      ...['--name', 'News', '--subject', 'News', '--text', 'News', '--tag', 'made'],
      ...['--unsubscribe-group', idOf('unsubscribe-groups create')],
    ],
  },
  'extensions create': { args: () => ['--name', 'triage', '--runtime', 'hosted'] },
  'extensions update': { args: (idOf) => [idOf('extensions create'), '--display-name', 'Triage'] },
  'extensions version': {
    args: (idOf) => [
      ...[idOf('extensions create'), '1.0.0', '--permission', 'contacts:read'],
      ...['--event', 'contact.created', '--send-mode', 'none'],
    ],
  },
  'extensions publish': { args: (idOf) => [idOf('extensions create'), '--to-all'] },
  'extensions install': { args: (idOf) => [idOf('extensions create'), '--accept-all'] },
  'extensions disable': { args: (idOf) => [idOf('extensions install')] },
  'extensions enable': { args: (idOf) => [idOf('extensions install')] },
  'extensions rotate': { args: (idOf) => [idOf('extensions install')] },
  'extensions upgrade': {
    args: (idOf) => [
      ...[idOf('extensions install'), '--version', secondVersion(idOf('extensions create'))],
    ],
  },
  'extensions withdraw': { args: (idOf) => [idOf('extensions create'), '1.0.0'] },
  'extensions uninstall': { args: (idOf) => [idOf('extensions install'), '--yes'] },
  'extensions delete': { args: (idOf) => [idOf('extensions create'), '--yes'] },
  'campaigns update': { args: (idOf) => [idOf('campaigns create'), '--name', 'More news'] },
  'campaigns duplicate': { args: (idOf) => [idOf('campaigns create')] },
  'campaigns test': {
    args: (idOf) => [idOf('campaigns create'), '--to', 'a@simulator.test'],
    recordedIn: 'events',
  },
  'campaigns run': { args: (idOf) => [idOf('campaigns create')] },
  'campaigns pause': { args: (idOf) => [moved(idOf('campaigns run'), 'running')] },
  'campaigns resume': { args: (idOf) => [idOf('campaigns run')] },
  'campaigns cancel': { args: (idOf) => [idOf('campaigns run')] },
  'campaigns retry': { args: (idOf) => [moved(idOf('campaigns run'), 'completed')] },
  'campaigns delete': { args: (idOf) => [idOf('campaigns duplicate'), '--yes'] },
  'unsubscribe-groups delete': {
    args: (idOf) => [idOf('unsubscribe-groups create'), '--yes'],
  },
  'brands create': { args: () => ['--slug', 'acme', '--name', 'Acme'] },
  'brands update': { args: () => ['acme', '--company-name', 'Acme Ltd'] },
  'brands default': { args: () => ['acme'] },
  'brands delete': { args: () => ['acme', '--yes'] },
  'webhooks create': { args: () => ['--url', 'https://hooks.example.com/', '--event', '*'] },
  'webhooks update': { args: (idOf) => [idOf('webhooks create'), '--name', 'shop'] },
  'webhooks rotate-secret': { args: (idOf) => [idOf('webhooks create')] },
  'webhooks test': {
    args: (idOf) => [idOf('webhooks create'), '--no-wait'],
    recordedIn: 'resource_events',
  },
  'webhooks delete': { args: (idOf) => [idOf('webhooks create'), '--yes'] },
  'messages send': {
    args: () => ['--to', 'a@simulator.test', '--subject', 'a', '--text', 'b'],
    recordedIn: 'events',
  },
  'messages batch': {
    args: () => ['--data', '-'],
    input: JSON.stringify(batch),
    recordedIn: 'events',
  },
  'queue hold': { args: () => ['--domain', 'simulator.test'] },
  'queue release': { args: () => ['--domain', 'simulator.test'] },
  'queue flush': { args: () => [] },
  'queue retry': { args: (idOf) => [idOf('messages send')] },
  'queue drop': { args: (idOf) => [idOf('messages send'), '--yes'] },
  'messages resend': { args: (idOf) => [idOf('messages send')], recordedIn: 'events' },
  'messages cancel': { args: (idOf) => [idOf('messages batch')] },
  'messages release': { args: (idOf) => [idOf('messages batch')], recordedIn: 'events' },
  'messages delete': { args: (idOf) => [idOf('messages send'), '--yes'] },
  'mailboxes create': { args: () => ['--slug', 'desk', '--domain', 'example.com'] },
  'mailboxes update': { args: (idOf) => [idOf('mailboxes create'), '--display-name', 'Desk'] },
  'mailboxes pause': { args: (idOf) => [idOf('mailboxes create')] },
  'mailboxes resume': { args: (idOf) => [idOf('mailboxes create')] },
  'mailboxes addresses add': {
    args: (idOf) => [idOf('mailboxes create'), '--address', 'more@example.com'],
  },
  'mailboxes addresses remove': {
    args: (idOf) => [idOf('mailboxes create'), mailboxAddress('more@example.com')],
  },
  'mailboxes receive': {
    args: () => ['desk'],
    input: 'From: ada@example.org\nSubject: A question\n\nHello\n',
    recordedIn: 'resource_events',
  },
  'threads reply': {
    args: () => [threadOf('desk'), '--text', 'Hello'],
    recordedIn: 'resource_events',
  },
  'threads forward': {
    args: () => [threadOf('desk'), '--to', 'boss@example.org', '--text', 'For you'],
    recordedIn: 'resource_events',
  },
  'mailboxes approve': {
    args: (idOf) => [proposalIn(idOf('mailboxes create'))],
  },
  'mailboxes reject': {
    args: (idOf) => [proposalIn(idOf('mailboxes create'))],
  },
  'domains catch-all enable': {
    args: (idOf) => ['example.com', '--mailbox', idOf('mailboxes create')],
  },
  'domains catch-all disable': { args: () => ['example.com'] },
  'threads move': { args: () => [threadOf('desk'), 'archive', '--read'] },
  'threads snooze': { args: () => [threadOf('desk'), '--until', '1d'] },
  'threads label': { args: () => [threadOf('desk'), '--add', 'vip'] },
  'threads note': { args: () => [threadOf('desk'), '--body', 'Call back'] },
  'threads delete': { args: () => [threadOf('desk'), '--yes'] },
  'mailboxes delete': { args: (idOf) => [idOf('mailboxes create'), '--yes'] },
  'domains delete': { args: () => ['example.com', '--yes'] },
};

let workspace: CliWorkspace;
beforeAll(async () => {
  // No resolver is asked.
  workspace = await initializedWorkspace({
    SVC_DNS_SERVERS: '["127.0.0.1:1"]',
    SVC_DELIVERY_HOSTNAME: 'mx.acme.example',
  });
});
afterAll(() => workspace.close());

/** Opens the store for `work`, and returns its result. */
function inStore<T>(work: (db: Database.Database) => T): T {
  const db = new Database(join(workspace.directory, 'data', 'svc.db'));
  try {
    return work(db);
  } finally {
    db.close();
  }
}

function countOf(table: Table): number {
  return inStore((db) => Number(db.prepare(`select count(*) from ${table}`).pluck().get()));
}

/** Holds the domain like a day of bounces: only a daemon counts them. */
function holdDomain(): void {
  inStore((db) =>
    db
      .prepare(
        `insert into health_reviews (organization_id, scope, since, held_at, hold_reason)
          select id, 'from:example.com', 0, 1, 'bounces' from organizations where name = 'default'`,
      )
      .run(),
  );
}

/** Finds the id of a mailbox address. */
function mailboxAddress(address: string): string {
  const ids = 'select id from mailbox_addresses where address = ?';
  return inStore((db) => String(db.prepare(ids).pluck().get(address)));
}

let proposals = 0;

/** Inserts a proposal as if a program's key had made it. */
function proposalIn(mailboxId: string): string {
  const mail = {
    type: 'sendMessage',
    ...{ threadId: null, inReplyToMessageId: null, draft: null, html: null },
    from: { email: 'desk@example.com', name: null },
    ...{ to: ['ada@example.org'], cc: [], bcc: [], subject: 'a', text: 'b', attachments: [] },
    ...{ replyTo: [], inReplyTo: null, references: [] },
  };
  proposals += 1;
  const id = `act_${String(proposals).padStart(24, '0')}`;
  inStore((db) => {
    const key = db.prepare('select id from api_keys where is_active = 1').pluck().get();
    db.prepare(
      `insert into mailbox_actions (id, organization_id, mailbox_id, type, state, actor_kind, actor_id,
          by_person, summary, created_at, expires_at, digest)
        select ?, organization_id, id, 'sendMessage', 'proposed', 'key', ?, 0, '{}', 0, 4e12, 'sha256:0'
        from mailboxes where id = ?`,
    ).run(id, key, mailboxId);
    db.prepare('insert into mailbox_proposals (action_id, content) values (?, ?)').run(
      id,
      JSON.stringify(mail),
    );
    const mime = 'From: desk@example.com\r\nTo: ada@example.org\r\n\r\nb\r\n';
    db.prepare('insert into mailbox_proposal_parts (action_id, part, data) values (?, 0, ?)').run(
      id,
      Buffer.from(mime),
    );
  });
  return id;
}

/** Finds the thread of a mailbox, or inserts one as if by SMTP. */
function threadOf(slug: string): string {
  const ids = 'select t.id from threads t join mailboxes m on m.id = mailbox_id where slug = ?';
  return inStore((db) => {
    const known = db.prepare(ids).pluck().get(slug);
    if (known !== undefined) return String(known);
    db.prepare(
      `insert into threads (id, organization_id, mailbox_id, folder, is_read, is_starred,
          last_activity_at, priority, message_count, attachment_count, created_at, updated_at)
        select 'thread_06dq2k0qz8h3v5m1r9t4w7xy', organization_id, id, 'inbox', 0, 0, 1, 'normal', 0,
          0, 1, 1 from mailboxes where slug = ?`,
    ).run(slug);
    return 'thread_06dq2k0qz8h3v5m1r9t4w7xy';
  });
}

/** Defers all deliveries, like a server that answers 4xx. */
function putOff(): void {
  inStore((db) => db.prepare('update deliveries set turn = null, due_at = 4e12').run());
}

/** Moves a run, as the walk of a daemon would; returns its id. */
function moved(runId: string, status: 'running' | 'completed'): string {
  inStore((db) =>
    db
      .prepare('update campaign_runs set status = ?, failed_count = 1 where id = ?')
      .run(status, runId),
  );
  return runId;
}

/** Makes an invited member an active one, without a person; returns the id. */
function joined(memberId: string): string {
  inStore((db) => db.prepare("update members set status = 'active' where id = ?").run(memberId));
  return memberId;
}

/** Stores a copy of the version of an extension, as 1.1.0; returns its number. */
function secondVersion(extensionId: string): string {
  const columns = 'organization_id, permissions, events, send_modes, runtime, created_at';
  inStore((db) =>
    db
      .prepare(
        `insert into extension_versions (id, extension_id, version, precedence, ${columns})
          select id || '0', extension_id, '1.1.0', '1.1.0', ${columns}
          from extension_versions where extension_id = ?`,
      )
      .run(extensionId),
  );
  return '1.1.0';
}

/** Takes the default from all brands, as if it had been deleted. */
function leaveNoDefaultBrand(): void {
  inStore((db) => db.prepare('update brands set is_default = 0').run());
}

/** Clones a template and changes a file of the folder. */
async function changeClone(): Promise<void> {
  await workspace.json(['templates', 'clone', 'shipped', 'shipped-folder']);
  writeFileSync(join(workspace.directory, 'shipped-folder', 'body.txt'), 'It is on its way');
}

/** Finds the only published commit. */
function publishedCommit(): string {
  const commits = 'select commit_hash from template_versions';
  return inStore((db) => String(db.prepare(commits).pluck().get()));
}

/** Marks all ended deliveries as captured, like a daemon in capture mode. */
function capture(): void {
  const attempts = JSON.stringify([{ number: 1, capturedBy: 'delivery.mode' }]);
  inStore((db) =>
    db.prepare('update deliveries set attempts = ? where due_at is null').run(attempts),
  );
}

/** Extracts the id of the created object. */
function idIn(printed: string): string {
  return /"(?:id|messageId)": "(\w+)"/.exec(printed)?.[1] ?? '';
}

describe('the commands that change data', () => {
  const made = new Map<string, string>();

  it('are all listed in this test', () => {
    const files = readdirSync(join(repository, 'commands'), { recursive: true, encoding: 'utf8' });
    const commands = files
      .filter((path) => path.endsWith('.ts') && !path.startsWith('base'))
      .map((path) => path.replace('.ts', '').replaceAll('/', ' '));
    expect([...changesNothing, ...Object.keys(changes)].sort()).toEqual(commands.sort());
  });

  it.each(Object.entries(changes))('svc %s is recorded', async (name, change) => {
    const { args, input = '', recordedIn = 'audit_entries' } = change;
    if (name === 'domains resume') holdDomain();
    if (name === 'templates push') await changeClone();
    if (name === 'queue retry') putOff();
    if (name === 'brands default') leaveNoDefaultBrand();
    if (name === 'messages release') capture();
    const before = countOf(recordedIn);
    const words = [...name.split(' '), ...args((command) => made.get(command) ?? ''), '--json'];
    const { code, stdout, stderr } = await workspace.run(words, { input });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    made.set(name, idIn(stdout));
    expect(countOf(recordedIn)).toBeGreaterThan(before);
  });
});
