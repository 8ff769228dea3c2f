// A person at work while agents attack: looks at a mail, decides on it later, and records what
// each look showed.
import type { CampaignPreview } from '../../../src/campaigns/mail/preview.ts';
import type { ShownAction } from '../../../src/inbox/approvals/schema.ts';
import type { ShownDraft } from '../../../src/inbox/replies/schema.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { type Answer, formOf, type World } from '../../console/world.ts';
import type { Targets } from './hostile-call.ts';
import type { SeenMail, Shown } from './seen-mail.ts';

type Step = () => Promise<void>;

/** Returns whether a page or a route took the decision of the person. */
const isTaken = ({ status }: Pick<Answer, 'status'>) => status === 303 || status < 300;

/** Makes a person at the console and the API. */
export async function personAt(
  world: World,
  things: Targets,
  seen: SeenMail,
  propose: (name: string) => Promise<string>,
) {
  const browser = await world.operator();
  const mailbox = `/v1/mailboxes/${things.mailbox}`;
  const read = async <Found>(path: string) => (await world.api('GET', path)) as unknown as Found;
  const write = async <Found>(path: string, body: object) =>
    (await world.api('POST', path, body)) as unknown as Found;
  const newest = async () => {
    const { items = [] } = await world.api('GET', '/v1/messages?limit=1');
    return items[0]?.id ?? '';
  };

  /** Returns a mail that is accepted, as its page shows it now. */
  async function messageShown(id: string): Promise<Shown> {
    const [message, email] = await Promise.all([
      read<Message>(`/v1/messages/${id}`),
      read<{ subject: string; text: string; html: string | null; attachments: object[] }>(
        `/v1/messages/${id}/email`,
      ),
    ]);
    const of = (kind: string) =>
      message.recipients.flatMap((one) => (one.kind === kind ? one.email : []));
    return {
      ...{ from: message.from, replyTo: message.replyTo ?? [] },
      ...{ to: of('to'), cc: of('cc'), bcc: of('bcc') },
      ...{ subject: email.subject, text: email.text, html: email.html },
      attachments: email.attachments as Shown['attachments'],
    };
  }

  /**
   * Looks at a draft; the returned function presses Send, and looks again if the draft was changed.
   */
  async function lookAtDraft(kind: string, id: string): Promise<Step> {
    const url = `/console/mailboxes/${things.mailbox}/drafts/${id}`;
    const look = async () => ({
      shown: await read<ShownDraft>(`${mailbox}/drafts/${id}`),
      form: formOf((await browser.get(url)).body, 'send') ?? {},
    });
    let found = await look();
    return async () => {
      for (let tries = 0; tries < 2; tries += 1) {
        const before = await newest();
        if (isTaken(await browser.post(url, found.form))) {
          const after = await newest();
          if (after !== before) seen.see(kind, after, found.shown);
          return;
        }
        found = await look();
      }
    };
  }

  /** Looks at a draft through the API, and sends it as it was at that time or with that digest. */
  async function readDraft(
    kind: string,
    id: string,
    expected: 'updatedAt' | 'digest',
  ): Promise<Step> {
    let shown = await read<ShownDraft>(`${mailbox}/drafts/${id}`);
    return async () => {
      for (let tries = 0; tries < 2; tries += 1) {
        try {
          const path = `${mailbox}/drafts/${id}/send`;
          const { updatedAt: expectedUpdatedAt, digest: expectedDigest } = shown;
          const body = expected === 'digest' ? { expectedDigest } : { expectedUpdatedAt };
          const { messageId } = await write<{ messageId: string }>(path, body);
          seen.see(kind, messageId, shown);
          return;
        } catch {
          shown = await read<ShownDraft>(`${mailbox}/drafts/${id}`);
        }
      }
    };
  }

  /**
   * Looks at a proposal; the returned function approves it, with other words if `edits` are given.
   */
  async function lookAtProposal(
    kind: string,
    id: string,
    edits?: { subject: string; text: string },
  ): Promise<Step> {
    const url = `/console/review/${things.mailbox}/${id}`;
    const { content } = await read<ShownAction>(`${mailbox}/actions/${id}`);
    const form = formOf((await browser.get(url)).body, edits ? 'edit' : 'approve') ?? {};
    return async () => {
      if (!isTaken(await browser.post(url, { ...form, ...edits }))) return;
      const { messageId } = await read<ShownAction>(`${mailbox}/actions/${id}`);
      // A changed text leaves no HTML with the old words.
      const shown = content && { ...content, ...edits, ...(edits && { html: null }) };
      if (messageId !== null && shown) seen.see(kind, messageId, shown);
    };
  }

  /** Looks at the mail of a campaign, and starts or schedules a run of it. */
  async function runCampaign(kind: string, scheduledFor: string | null): Promise<void> {
    const path = `/v1/campaigns/${things.campaign}`;
    const contactId = things.contact;
    const shown = await write<CampaignPreview>(`${path}/render`, { contactId });
    const { id } = await write<{ id: string }>(`${path}/runs`, { scheduledFor });
    seen.see(kind, id, { ...shown, to: [], cc: [], bcc: [] }, 'ada@example.com');
  }

  const written = (name: string) => ({
    ...{ to: `${name}@example.com`, cc: 'cc@example.com', bcc: '' },
    ...{ subject: `From a person: ${name}`, text: 'My own words' },
  });

  /** Everything on which the person decides later. */
  async function look(): Promise<Step[]> {
    await write('/v1/messages/scheduled', {
      ...{ channel: 'email', to: [{ email: 'later@example.com' }] },
      email: { templateId: things.template },
      from: { email: things.address },
      scheduledFor: things.soon,
    });
    const id = await newest();
    seen.see('scheduled', id, await messageShown(id));
    await runCampaign('scheduled run', things.soon);
    return [
      await lookAtDraft('draft', things.draft),
      await lookAtDraft('draft of an agent', things.agentDraft),
      await readDraft('draft by the API', things.otherDraft, 'updatedAt'),
      await lookAtDraft('quiet draft', things.quietDraft),
      await readDraft('quiet draft by the API', things.quietOtherDraft, 'digest'),
      await lookAtProposal('proposal', things.action),
      await lookAtProposal('changed proposal', await propose('changed'), {
        ...{ subject: 'In other words', text: 'Words of the person' },
      }),
    ];
  }

  const steps: Step[] = [
    async () => {
      const url = `/console/mailboxes/${things.mailbox}/new`;
      const form = formOf((await browser.get(url)).body, 'send') ?? {};
      if (!isTaken(await browser.post(url, { ...form, ...written('now') }))) return;
      const id = await newest();
      seen.see('mail', id, await messageShown(id));
    },
    () => runCampaign('run', null),
    async () => {
      const path = `/v1/campaigns/${things.campaign}/test`;
      const [result] = await write<{ message: Message }[]>(path, { to: ['test@example.com'] });
      const { id = '' } = result?.message ?? {};
      seen.see('test', id, await messageShown(id));
    },
    async () => {
      const { id } = await write<{ id: string }>('/v1/contacts', { email: 'joins@example.com' });
      const group = await read<{ name: string }>(`/v1/unsubscribe-groups/${things.optIn}`);
      await write(`/v1/unsubscribe-groups/${things.optIn}/members`, { contactIds: [id] });
      // A mail of the service leaves out signs of the name that could be a link.
      const [first = ''] = group.name.split(' ');
      seen.ask('confirmation', 'joins@example.com', `Please confirm: ${first}`);
    },
    async () => {
      const email = 'proves@proves.example';
      await write('/v1/email/senders', { email });
      seen.ask('proof', email, 'Please confirm that you send mail from this address');
    },
  ];
  return { look, steps };
}
