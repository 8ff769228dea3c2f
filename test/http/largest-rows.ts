// Rows of the largest size that can be stored, 100 for each list of the API, created by SQL on
// SQLite.
import { sql } from 'kysely';
import type { App } from '../../src/core/app.ts';
import { inThread, runOf } from './permission-rows.ts';
import type { Side } from './permission-world.ts';

/** SQL for a text of this many bytes. */
const text = (bytes: number) => `hex(zeroblob(${bytes / 2}))`;
const json = (bytes: number) => `json_object('key', ${text(bytes)})`;
const links = (bytes: number) => `json_array(json_object('label', 'a', 'url', ${text(bytes)}))`;
const list = (bytes: number) => `json_array(${text(bytes)})`;
/** A condition of a group by query, within the bound of its value. */
const condition = `json_object('field', 'profile.company', 'is', ${text(2_000)})`;

/** SQL for the value with the number of its copy in its last characters. */
const numbered = (column: string) =>
  `substr("${column}", 1, length("${column}") - 4) || printf('%04d', n.i)`;
/** SQL for the value with its number, distinct also between copies of several rows. */
const numberedOfMany = (column: string) =>
  `substr("${column}", 1, length("${column}") - 8) || substr("${column}", -4) || printf('%04d', n.i)`;

const metadata = `json_object(${Array.from(
  { length: 16 },
  (_, key) => `'key ${key}', ${text(1_990)}`,
).join()})`;

/** SQL for this many pieces of advice. */
const warningsOf = (count: number) =>
  `json_array(${Array.from(
    { length: count },
    () =>
      `json_object('code', 'foreign-link', 'message', ${text(600)}, 'path', ${text(600)}, 'line', 9)`,
  ).join()})`;

/** A version keeps at most 100 pieces of advice. */
const warningsOfVersion = warningsOf(100);

const attempt = `'number', 1, 'at', '2026-01-05T12:00:00.000Z', 'durationMs', 1, 'host', 'mx.example',
  'address', null, 'tls', null, 'outcome', 'deferred', 'code', 451, 'enhancedCode', null,
  'reply', 'later', 'verb', 'DATA'`;

const source = `'ip', '192.0.2.1', 'count', 1, 'disposition', null, 'dkim', null, 'spf', null`;

export interface Growth {
  table: string;
  /** Condition of the rows, in SQL. */
  where: string;
  /** Columns with distinct values, by the SQL that creates them. */
  unique: Record<string, string>;
  /** Widest values of columns, in SQL. */
  wide?: Record<string, string>;
  copies?: number;
}

/**
 * Growth of the rows in each list, by its path. Rows that several lists show grow with the first of
 * them.
 */
export const growths: Record<string, (side: Side) => Growth[]> = {
  '/v1/messages': ({ shared }) => [
    {
      table: 'messages',
      where: `id = '${shared.message}'`,
      unique: { id: numbered('id') },
      wide: {
        ...{
          created_at: 'created_at + 86400000',
          subject: text(2_994),
          tags: list(3_000),
          metadata,
        },
        ...{ headers: json(150_000), message_references: list(100_000), reply_to: list(9_600) },
      },
    },
    {
      table: 'recipients',
      where: `message_id = '${shared.message}'`,
      unique: { message_id: numbered('message_id'), id: numberedOfMany('id') },
      wide: { name: text(766) },
    },
    {
      table: 'deliveries',
      where: `message_id = '${shared.message}'`,
      unique: { message_id: numbered('message_id'), id: numberedOfMany('id') },
      wide: {
        error_message: text(3_000),
        error_details: json(3_000),
        attempts: `json_array(json_object(${attempt}, 'transcript', ${text(200_000)}))`,
      },
    },
  ],
  '/v1/messages/{id}/events': ({ shared }) => [
    {
      table: 'events',
      where: `message_id = '${shared.message}'`,
      unique: { id: numbered('id') },
      wide: { metadata: json(8_000) },
      copies: 1_000,
    },
  ],
  '/v1/messages/{id}/deliveries': () => [],
  '/v1/mailboxes': ({ shared }) => [
    {
      table: 'mailboxes',
      where: `id = '${shared.mailbox}'`,
      unique: {
        ...{ id: numbered('id'), slug: "'box-' || n.i", primary_address: "'a@' || n.i || '.test'" },
      },
      wide: {
        description: text(3_000),
        metadata: json(32_000),
        filters: `json_object('allow', json_array(), 'block', ${list(65_000)})`,
      },
    },
  ],
  '/v1/mailboxes/{id}/events': ({ shared, organizationId }) => [
    {
      table: 'resource_events',
      where: `organization_id = '${organizationId}' and subject = '${shared.mailbox}'`,
      unique: { id: numberedOfMany('id') },
      wide: { data: json(400_000) },
    },
  ],
  '/v1/mailboxes/{id}/drafts': (side) => [
    {
      table: 'drafts',
      where: `id = '${inThread(side, null).draftId}'`,
      unique: { id: numbered('id') },
      wide: { text: text(32_000), html: text(32_000), byte_count: '64000' },
    },
  ],
  // The rows of `/v1/mailboxes/{id}/actions`.
  '/v1/mailbox-actions': () => [],
  '/v1/mailboxes/{id}/actions': ({ shared }) => [
    {
      table: 'mailbox_actions',
      where: `id = (select max(id) from mailbox_actions where mailbox_id = '${shared.proposingMailbox}')`,
      unique: { id: numbered('id') },
      wide: { note: text(6_000) },
    },
  ],
  '/v1/mailbox-namespaces': ({ namespace }) => [
    {
      table: 'mailbox_namespaces',
      where: `id = '${namespace}'`,
      unique: { id: numbered('id'), name: "'name-' || n.i" },
    },
  ],
  '/v1/mailboxes/{id}/threads': (side) => [
    {
      table: 'threads',
      where: `id = '${inThread(side, null).threadId}'`,
      unique: { id: numbered('id') },
      wide: { subject: text(10_000), preview: text(1_000), from_name: text(8_000) },
    },
  ],
  '/v1/mailboxes/{id}/threads/{threadId}/messages': (side) => [
    {
      table: 'messages',
      where: `id = '${inThread(side, null).messageId}'`,
      unique: { id: numbered('id') },
      wide: { headers: json(200_000), message_references: list(100_000) },
    },
    {
      table: 'email_projections',
      where: `message_id = '${inThread(side, null).messageId}'`,
      unique: { message_id: numbered('message_id') },
      wide: { new_content: text(400_000), quoted_content: text(100_000) },
    },
    {
      table: 'thread_messages',
      where: `message_id = '${inThread(side, null).messageId}'`,
      unique: { message_id: numbered('message_id') },
    },
  ],
  '/v1/mailboxes/{id}/threads/{threadId}/notes': (side) => [
    {
      table: 'thread_notes',
      where: `id = '${inThread(side, null).noteId}'`,
      unique: { id: numbered('id') },
      wide: { body: text(60_000) },
    },
  ],
  '/v1/email/domains': ({ shared }) => [
    {
      table: 'domains',
      where: `id = '${shared.domain}'`,
      unique: { id: numbered('id'), domain: "'d' || n.i || '.example'" },
    },
    {
      table: 'domain_keys',
      where: `domain_id = '${shared.domain}'`,
      unique: { id: numberedOfMany('id'), domain_id: numbered('domain_id') },
    },
  ],
  '/v1/email/domains/{id}/dns-records': () => [],
  '/v1/email/domains/{id}/dmarc-reports': ({ organizationId }) => [
    {
      table: 'dmarc_reports',
      where: `organization_id = '${organizationId}'`,
      unique: { id: numbered('id'), report_id: "'report ' || n.i" },
      wide: { sources: `json_array(json_object(${source}, 'headerFrom', ${text(60_000)}))` },
    },
  ],
  '/v1/email/senders': ({ shared }) => [
    {
      table: 'senders',
      where: `id = '${shared.sender}'`,
      unique: {
        id: numbered('id'),
        email: "'s' || n.i || '@own.example'",
        folded_email: "'s' || n.i || '@own.example'",
        is_default: '0',
      },
      wide: { reply_to_emails: list(3_200) },
    },
  ],
  '/v1/email/blocks': ({ shared }) => [
    {
      table: 'blocks',
      where: `id = '${shared.block}'`,
      unique: { id: numbered('id'), folded_address: "'b' || n.i || '@own.example'" },
    },
  ],
  '/v1/unsubscribe-groups': ({ shared }) => [
    {
      table: 'unsubscribe_groups',
      where: `id = '${shared.unsubscribeGroup}'`,
      unique: { id: numbered('id'), name: "'group ' || n.i" },
      wide: { description: text(3_000) },
    },
  ],
  '/v1/saved-replies': ({ shared }) => [
    {
      table: 'saved_replies',
      where: `id = '${shared.savedReply}'`,
      unique: { id: numbered('id') },
      wide: { text: text(60_000), html: text(60_000) },
    },
  ],
  '/v1/brands': ({ shared }) => [
    {
      table: 'brands',
      where: `slug = '${shared.brand}'`,
      unique: { id: numbered('id'), slug: "'brand-' || n.i", is_default: '0' },
      wide: { css: text(102_400), social_links: links(44_000), logo_url: text(2_048) },
    },
  ],
  '/v1/templates': ({ shared }) => [
    {
      table: 'templates',
      where: `id = '${shared.template}'`,
      unique: { id: numbered('id'), slug: "'template-' || n.i" },
      wide: { name: text(1_200), description: text(3_000) },
    },
  ],
  '/v1/templates/{id}/versions': ({ shared }) => [
    {
      table: 'template_versions',
      where: `template_id = '${shared.publishedTemplate}'`,
      unique: { id: numbered('id'), number: 'n.i + 1' },
      wide: { compiled: text(1_000_000), warnings: warningsOfVersion },
    },
  ],
  '/v1/templates/families': ({ shared }) => [
    {
      table: 'template_families',
      where: `id = '${shared.family}'`,
      unique: { id: numbered('id') },
      wide: { name: text(1_200) },
    },
    {
      table: 'templates',
      where: `id = '${shared.template}'`,
      unique: { id: numberedOfMany('id'), slug: "'member-' || n.i" },
      wide: { name: text(1_200), family_id: `'${shared.family}'` },
    },
  ],
  '/v1/contacts': ({ shared }) => [
    {
      table: 'contacts',
      where: `id = '${shared.contact}'`,
      unique: { id: numbered('id'), external_id: 'null' },
      wide: {
        profile: `json_object('customFields', ${json(32_000)})`,
        ...{ metadata: json(32_000), tags: list(30_000), avatar: text(6_000) },
      },
    },
  ],
  '/v1/contacts/tags': () => [
    {
      table: 'contact_counts',
      where: "tag = ''",
      unique: { tag: `${text(60)} || printf('%04d', n.i)` },
      wide: { count: '999999' },
    },
  ],
  '/v1/conversations': ({ shared }) => [
    {
      table: 'conversations',
      where: `id = '${shared.conversation}'`,
      unique: { id: numbered('id'), external_id: 'null' },
      wide: {
        ...{ context: json(32_000), metadata: json(32_000), tags: list(30_000) },
        ...{ description: text(15_000), resolution_notes: text(15_000), categories: list(12_000) },
      },
    },
  ],
  '/v1/contact-groups': ({ shared }) => [
    {
      table: 'contact_groups',
      where: `id = '${shared.contactGroup}'`,
      unique: { id: numbered('id'), name: "'group ' || n.i" },
      wide: {
        description: text(3_000),
        query: `json_object('any', json_array(${Array(8).fill(condition)}))`,
      },
    },
  ],
  '/v1/contact-groups/{id}/members': ({ shared }) => [
    {
      table: 'contact_group_members',
      where: `group_id = '${shared.contactGroup}' and contact_id = '${shared.contact}'`,
      unique: { contact_id: numbered('contact_id') },
    },
  ],
  '/v1/extensions': ({ shared }) => [
    {
      table: 'extensions',
      where: `id = '${shared.extension}'`,
      unique: { id: numbered('id'), name: numbered('name') },
      wide: { display_name: text(400), description: text(4_000) },
    },
  ],
  '/v1/extensions/{id}/versions': ({ shared }) => [
    {
      table: 'extension_versions',
      where: `extension_id = '${shared.extension}'`,
      unique: { id: numbered('id'), precedence: numbered('precedence') },
      wide: { permissions: list(20_000), events: list(20_000), changelog: text(40_000) },
    },
  ],
  '/v1/extension-installations': ({ shared }) => [
    {
      table: 'extension_installations',
      where: `id = '${shared.installation}'`,
      unique: { id: numbered('id') },
      wide: { mailbox_ids: list(2_000) },
    },
  ],
  '/v1/extension-installations/{id}/version-changes': ({ shared }) => [
    {
      table: 'installation_version_changes',
      where: `installation_id = '${shared.upgradedInstallation}'`,
      unique: { id: numbered('id') },
      wide: { added: list(44_000), removed: list(44_000) },
    },
  ],
  '/v1/campaigns': ({ shared }) => [
    {
      table: 'campaigns',
      where: `id = '${shared.campaign}'`,
      unique: { id: numbered('id') },
      wide: {
        name: text(800),
        metadata,
        warnings: warningsOf(20),
        body: json(1_000_000),
        email: `json_object('subject', ${text(3_992)}, 'replyTo', ${list(3_200)})`,
        audience: `json_object('includeTags', ${list(20_000)}, 'excludeTags', ${list(20_000)},
          'groupIds', ${list(3_000)})`,
      },
    },
  ],
  '/v1/campaigns/{id}/runs': (side) => [
    {
      table: 'campaign_runs',
      where: `id = '${runOf(side, null).runId}'`,
      unique: { id: numbered('id') },
      wide: {
        failure_reason: text(2_000),
        hold_detail: text(2_000),
        policy_snapshot: `json_object('unsubscribeGroupId', null, 'pageSize', 500)`,
        audience_snapshot: json(300_000),
        content_snapshot: json(1_000_000),
      },
    },
  ],
  '/v1/campaigns/{id}/runs/{runId}/recipients': (side) => [
    {
      table: 'campaign_recipients',
      where: `run_id = '${runOf(side, null).runId}'`,
      unique: { contact_id: numbered('contact_id') },
      wide: { reason: text(600) },
    },
  ],
  '/v1/unsubscribe-groups/{id}/members': ({ shared }) => [
    {
      table: 'group_confirmations',
      where: `group_id = '${shared.unsubscribeGroup}' and contact_id = '${shared.contact}'`,
      unique: { contact_id: numbered('contact_id') },
    },
  ],
  '/v1/events': () => [],
  '/v1/events/kinds': () => [],
  '/v1/webhooks': ({ shared }) => [
    {
      table: 'webhook_endpoints',
      where: `id = '${shared.webhook}'`,
      unique: { id: numbered('id') },
      wide: { url: `'https://example.com/' || ${text(2_000)}`, events: list(6_400) },
    },
  ],
  '/v1/webhooks/{id}/deliveries': ({ webhookDelivery }) => [
    {
      table: 'webhook_deliveries',
      where: `id = '${webhookDelivery}'`,
      unique: { id: numbered('id') },
    },
  ],
  '/v1/api-keys': ({ shared }) => [
    {
      table: 'api_keys',
      where: `id = '${shared.writeKey}'`,
      unique: { id: numbered('id'), hash: "'hash ' || n.i" },
      wide: { description: text(3_000) },
    },
  ],
  '/v1/members': ({ shared }) => [
    {
      table: 'members',
      where: `id = '${shared.member}'`,
      unique: {
        id: numbered('id'),
        email: "'grown' || n.i || '@own.example'",
        invitation_hash: 'null',
      },
      wide: { name: text(400) },
    },
  ],
  '/v1/audit': ({ organizationId }) => [
    {
      table: 'audit_entries',
      where: `organization_id = '${organizationId}' and action = 'domain.added'`,
      unique: { id: numberedOfMany('id') },
      wide: { details: json(20_000) },
    },
  ],
};

/** Fills the rows to their widest, and copies them. */
export async function grow(
  { store }: App,
  { table, where, unique, wide = {}, copies = 100 }: Growth,
): Promise<void> {
  await store.write(async (trx) => {
    const widened = Object.entries(wide).map(([column, value]) => `"${column}" = ${value}`);
    if (widened.length > 0) {
      await sql.raw(`update ${table} set ${widened.join(', ')} where ${where}`).execute(trx);
    }
    const { rows } = await sql<{ name: string }>`
      select name from pragma_table_info(${table})`.execute(trx);
    const columns = rows.map(({ name }) => `"${name}"`).join(', ');
    const values = rows.map(({ name }) => unique[name] ?? `t."${name}"`).join(', ');
    const { numAffectedRows } = await sql
      .raw(
        `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${copies})
        insert into ${table} (${columns}) select ${values} from ${table} as t, n where ${where}`,
      )
      .execute(trx);
    if ((numAffectedRows ?? 0n) < BigInt(copies)) throw new Error(`no rows of ${table} to copy`);
  });
}
