// Fills a store with queued messages, or times claims on it, in a separate process, while no daemon
// runs: `seed-process.ts <job as JSON>` with the environment of the daemon. One message is accepted
// as ever; the others are its rows with new ids, written by the product's own insert functions.

import { operatorOf } from '../../src/access/keys/roles.ts';
import {
  createOrganization,
  getOrganization,
} from '../../src/access/organizations/organizations.ts';
import type { App } from '../../src/core/app.ts';
import { loadConfig } from '../../src/core/config/config.ts';
import { addDomain } from '../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../src/identity/domains/verification.ts';
import {
  type DeliveryRow,
  findDeliveries,
  insertDeliveries,
} from '../../src/outbound/deliveries/queries.ts';
import { shareContent } from '../../src/outbound/messages/contents/content-queries.ts';
import {
  deleteMessageRow,
  findMessageRow,
  findRecipients,
  insertMessages,
  insertRecipients,
  type MessageRow,
  type RecipientRow,
} from '../../src/outbound/messages/queries.ts';
import { turnsOf } from '../../src/outbound/queue/claiming/delivery-turns.ts';
import { sendMessage } from '../../src/outbound/sending/send.ts';
import { createLogger } from '../../src/platform/runtime/log.ts';
import { openService } from '../../src/service/service.ts';
import { timeClaims } from './claim-times.ts';

/** Request of the parent process. */
export type SeedJob =
  | {
      job: 'seed';
      rows: number;
      organizations: number;
      domainsEach: number;
      /** `ready` deliveries are due by turns, `waiting` ones have a retry hours ahead. */
      state: 'ready' | 'waiting';
      text: string;
    }
  | { job: 'time-claims'; limit: number; times: number };

/** An organization with a sending domain, the source of messages. */
interface Flow {
  organizationId: string;
  domainId: string;
  domain: string;
}

interface Template {
  message: MessageRow;
  recipient: RecipientRow;
  delivery: DeliveryRow;
}

const rowsPerTransaction = 2_048;
const retryInMs = 6 * 3_600_000;
const retrySpreadMs = 12 * 3_600_000;

const wanted = JSON.parse(process.argv[2] ?? 'null') as SeedJob;
const { config } = loadConfig({ env: process.env, cwd: process.cwd() });
const app = await openService(config, await createLogger({ level: 'warn', pretty: false }));
if (wanted.job === 'seed') await seed(wanted);
else process.send?.(await timeClaims(app, wanted));
await app.close();
process.disconnect?.();

async function seed(job: Extract<SeedJob, { job: 'seed' }>): Promise<void> {
  const flows = await makeFlows(app, job.organizations, job.domainsEach);
  const template = await makeTemplate(app, flows[0] as Flow, job.text);
  for (let done = 0; done < job.rows; done += rowsPerTransaction) {
    const count = Math.min(rowsPerTransaction, job.rows - done);
    const copies = Array.from({ length: count }, (_, index) => {
      const number = done + index;
      return copyOf(template, flows[number % flows.length] as Flow, number, job.state);
    });
    await app.store.write(async (trx) => {
      await shareContent(trx, template.message.content_id ?? '', count);
      await insertMessages(
        trx,
        copies.map(({ message }) => message),
      );
      await insertRecipients(
        trx,
        copies.map(({ recipient }) => recipient),
      );
      await insertDeliveries(
        trx,
        copies.map(({ delivery }) => delivery),
      );
    }, 'soon');
  }
  await app.store.write(async (trx) => deleteMessageRow(trx, template.message));
}

/** Makes the flows; finds those of an earlier job on the same store by their names. */
async function makeFlows(app: App, organizations: number, domainsEach: number): Promise<Flow[]> {
  const flows: Flow[] = [];
  for (let index = 0; index < organizations; index++) {
    const name = `tenant-${index}-${Date.now().toString(36)}`;
    await createOrganization(app, { name, plan: 'self-hosted' });
    const { id: organizationId } = await getOrganization(app, name);
    const operator = operatorOf(organizationId);
    for (let number = 0; number < domainsEach; number++) {
      const domain = `d${number}.${name}.example`;
      const { id: domainId } = await addDomain(app, operator, { domain, dkim: 'ed25519' });
      await verifyDomain(app, operator, domainId, { force: true });
      flows.push({ organizationId, domainId, domain });
    }
  }
  return flows;
}

async function makeTemplate(app: App, flow: Flow, text: string): Promise<Template> {
  const { id } = await sendMessage(
    app,
    operatorOf(flow.organizationId),
    {
      channel: 'email',
      from: { email: `bench@${flow.domain}` },
      to: [{ email: 'user@example.com' }],
      email: { subject: 'Message of a backlog', text },
    },
    null,
  );
  const { db } = app.store;
  const message = await findMessageRow(db, id);
  const [recipient] = await findRecipients(db, [id]);
  const [delivery] = await findDeliveries(db, [id]);
  if (!message || !recipient || !delivery) throw new Error('the template was not stored');
  return { message, recipient, delivery };
}

function copyOf(
  template: Template,
  flow: Flow,
  number: number,
  state: 'ready' | 'waiting',
): Template {
  const id = app.newId('message');
  const recipientId = app.newId('recipient');
  const email = `user${number}@example.com`;
  const { organizationId, domain, domainId } = flow;
  const now = app.clock.now();
  return {
    message: {
      ...template.message,
      id,
      organization_id: organizationId,
      from_email: `bench@${domain}`,
      message_id_header: `<${id}@${domain}>`,
      sender_domain_id: domainId,
      status: state === 'ready' ? 'pending' : 'processing',
    },
    recipient: { ...template.recipient, id: recipientId, message_id: id, email },
    delivery: {
      ...template.delivery,
      id: app.newId('delivery'),
      message_id: id,
      recipient_id: recipientId,
      organization_id: organizationId,
      sender_domain: domain,
      email,
      ...(state === 'ready'
        ? {
            turn: turnsOf(app).next(
              { ...template.delivery, organization_id: organizationId, sender_domain: domain },
              null,
            ),
          }
        : {
            turn: null,
            status: 'processing',
            attempt_count: 1,
            wait_reason: 'retry',
            due_at: now + retryInMs + Math.floor(app.random.float() * retrySpreadMs),
          }),
    },
  };
}
