// Uses of the client that compile without a cast, and mistakes that do not compile. An unused
// `@ts-expect-error` fails `npm run check`. test/client/project.test.ts compiles the file too, in a
// strict project that installed the client. Nothing here runs.
import {
  type DryRunResult,
  type Message,
  type MessagesListQuery,
  Svc,
  SvcError,
  verifyWebhook,
} from '../../client/index.js';

const svc = new Svc({ url: 'https://mail.example.com', key: 'svc_live_key' });
const mail = {
  channel: 'email',
  to: [{ email: 'ada@example.com' }],
  email: { subject: 'Hello', text: 'Hi' },
} as const;

export async function sends(isDry: boolean): Promise<void> {
  const to = [...mail.to];
  const sent: Message = await svc.messages.send({ ...mail, to });
  const later: Message = await svc.messages.schedule({ ...mail, to, scheduledFor: sent.createdAt });
  const report: DryRunResult = await svc.messages.send({ ...mail, to, dryRun: true });
  const either = await svc.messages.send({ ...mail, to, dryRun: isDry });
  if ('valid' in either) report.problems.push(...either.problems);
  else later.tags.push(either.id);
  // @ts-expect-error the channel does not exist
  await svc.messages.send({ ...mail, to, channel: 'fax' });
  // @ts-expect-error the answer to a dry run lacks an id
  (await svc.messages.send({ ...mail, to, dryRun: true })).id;
}

export async function hears(body: string, headers: Headers): Promise<string | null> {
  const event = await verifyWebhook(body, headers, 'whsec_secret');
  const id: string = event.id;
  switch (event.type) {
    case 'message.bounced':
      return event.data.deleted ? id : (event.data.event.reply ?? event.data.subject);
    case 'mailbox.message.received':
      return event.data.message.subject;
    case 'contact.deleted':
      return event.data.id;
    default:
      // @ts-expect-error the data of many kinds lack a message
      return event.data.message;
  }
}

export async function follows(): Promise<void> {
  const query: MessagesListQuery = { status: 'failed', after: new Date() };
  for await (const { subject } of svc.messages.list(query)) subject?.trim();
  for await (const event of svc.events.list({ type: 'domain.*' })) {
    if (event.type === 'domain.failed') event.data.domain.trim();
  }
  const { signal } = new AbortController();
  for await (const event of svc.events.stream({ signal, query: { type: 'message.*' } })) {
    if (event.type === 'message.opened' && !event.data.deleted) event.data.event.url?.trim();
  }
  // @ts-expect-error the status does not exist
  await svc.messages.list({ status: 'lost' });
  // @ts-expect-error the filter is `type`
  svc.events.stream({ query: { types: 'message.*' } });
}

export function words(error: unknown): string {
  if (!(error instanceof SvcError)) throw error;
  // @ts-expect-error the error does not exist
  if (error._tag === 'NoSuchError') return '';
  return error._tag === 'ResourceNotFoundError' ? error.message : `${error.status}`;
}
