// Every route that answers a list reads at most 16 MB, over 100 rows of the largest size that can
// be stored.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { routes } from '../../daemon/http/routes.ts';
import { watchBytes } from '../support/watched-queries.ts';
import { grow, growths } from './largest-rows.ts';
import { inThread, runOf } from './permission-rows.ts';
import { type PermissionWorld, permissionWorld, type Side } from './permission-world.ts';

const mostBytes = 16 * 1024 * 1024;

interface ListSchema {
  type?: string;
  properties?: { items?: { type?: string }; pagination?: object; nextCursor?: object };
}

const schemaOf = (output: z.ZodType) =>
  z.toJSONSchema(output, { io: 'output', unrepresentable: 'any' }) as ListSchema;

function isList(output: z.ZodType): boolean {
  const { type, properties } = schemaOf(output);
  return type === 'array' || properties?.items?.type === 'array';
}

function isPaged(output: z.ZodType): boolean {
  const { pagination, nextCursor } = schemaOf(output).properties ?? {};
  return pagination !== undefined || nextCursor !== undefined;
}

const lists = routes.filter(({ method, output }) => method === 'GET' && isList(output));

let world: PermissionWorld;

/** Fills the id of the parent resource into the path of a list. */
function urlOf(path: string, side: Side): string {
  const { shared } = side;
  const { threadId } = inThread(side, null);
  const { runId } = runOf(side, null);
  const id = Object.entries({
    '/v1/messages': shared.message,
    '/v1/templates': shared.publishedTemplate,
    '/v1/mailboxes/{id}/events': shared.mailbox,
    '/v1/mailboxes/{id}/actions': shared.proposingMailbox,
    '/v1/mailboxes': shared.threadedMailbox,
    '/v1/email/domains': shared.domain,
    '/v1/contact-groups': shared.contactGroup,
    '/v1/unsubscribe-groups': shared.unsubscribeGroup,
    '/v1/webhooks': shared.webhook,
    '/v1/campaigns': shared.runningCampaign,
    '/v1/extensions': shared.extension,
    '/v1/extension-installations': shared.upgradedInstallation,
  }).find(([prefix]) => path.startsWith(prefix))?.[1];
  return path
    .replace('{id}', id ?? '')
    .replace('{threadId}', threadId)
    .replace('{runId}', runId);
}

/** Adds the resources that a world lacks. */
async function addRest({ test, own }: PermissionWorld): Promise<void> {
  const { runId } = runOf(own, null);
  await test.app.store.write((trx) =>
    sql`insert into campaign_recipients (run_id, contact_id, outcome, created_at)
      values (${runId}, ${own.shared.contact}, 'failed', 0)`.execute(trx),
  );
  const { contactGroup, unsubscribeGroup, contact, domain } = own.shared;
  await own.api.post(`/v1/contact-groups/${contactGroup}/members`, { contactIds: [contact] });
  await own.api.post(`/v1/unsubscribe-groups/${unsubscribeGroup}/members`, {
    contactIds: [contact],
  });
  await test.app.store.write((trx) =>
    sql`insert into dmarc_reports select 'dmr_0123456789abcdefghjk', organization_id, domain, 'them',
      'report', created_at, created_at, 1, 1, 0, '[]', created_at from domains where id = ${domain}`.execute(
      trx,
    ),
  );
}

describe('the lists of the largest rows', () => {
  beforeAll(async () => {
    world = await permissionWorld('sqlite');
    await addRest(world);
    for (const growthsOf of Object.values(growths)) {
      for (const growth of growthsOf(world.own)) await grow(world.test.app, growth);
    }
  });
  afterAll(() => world.close());

  it('cover every route that answers a list', () => {
    expect(new Set(Object.keys(growths))).toEqual(new Set(lists.map(({ path }) => path)));
  });

  it.each(lists)('read at most 16 MB for $path', async ({ path, output }) => {
    const watch = watchBytes();
    try {
      const url = `${urlOf(path, world.own)}${isPaged(output) ? '?limit=100' : ''}`;
      expect((await world.own.api.get(url)).status).toBe(200);
      expect(watch.take()).toBeLessThan(mostBytes);
    } finally {
      watch.stop();
    }
  });
});
