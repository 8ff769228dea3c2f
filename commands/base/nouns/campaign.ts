// Shared parts of the commands on campaigns and runs: arguments, and the body of a campaign.
import { Args, Flags } from '@oclif/core';
import type { CampaignPreview } from '../../../src/campaigns/mail/preview.ts';
import { ResourceNotFoundError } from '../../../src/platform/errors.ts';
import type { Session } from '../asking.ts';
import { attachmentsFrom, given, textFrom } from '../input/body.ts';
import { firstFound, itemsOf } from '../items.ts';
import { party } from '../mail/send-payload.ts';
import type { Find } from '../verbs.ts';

/** The argument of commands on a single campaign. */
export const campaignArg = {
  id: Args.string({
    description: 'Id of the campaign (camp_…), or @last for the newest',
    required: true,
  }),
};

/** The argument of commands on a single run. */
export const runArg = {
  run: Args.string({
    description: 'Id of the run (run_…), or @last for the newest',
    required: true,
  }),
};

/** Returns the path parameters of a run: campaign and run. @throws ResourceNotFoundError */
export async function runPlace(
  session: Session,
  named: string,
): Promise<{ id: string; runId: string }> {
  const { runPath } = await import('../../../src/campaigns/setup/run-schema.ts');
  const { parseTyped } = await import('../input/whole-id.ts');
  const schema = runPath.shape.runId;
  const runId = await parseTyped(session.findIds, schema, named, 'path');
  return { id: await campaignOf(session, runId), runId };
}

async function campaignOf(session: Session, runId: string): Promise<string> {
  if (session.local) {
    const { app, caller } = session.local;
    const { runs } = await import('../../../src/run-ledger/queries.ts');
    return (await runs.get(app.store.db, caller.organizationId, runId)).campaign_id;
  }
  const { campaignRoutes, campaignRunRoutes } = await import(
    '../../../src/campaigns/setup/routes.ts'
  );
  const campaigns = itemsOf(session, campaignRoutes.list);
  const found = await firstFound(campaigns, ({ id }) =>
    session.ask(campaignRunRoutes.get, { params: { id, runId } }),
  );
  if (!found) throw new ResourceNotFoundError('campaign-run', runId);
  return found.campaignId;
}

/** Turns the typed run into the path parameters of the route. */
export const findRun: Find = runPlace;

export const campaignCard = [
  ...['id', 'name', 'channel', 'from', 'email.subject', 'email.templateId', 'email.templateSlug'],
  ...['email.unsubscribeGroupId', 'audience.includeTags', 'audience.excludeTags'],
  ...['audience.groupIds', 'audience.contactIds', 'conversationId', 'metadata', 'transactional'],
  ...['createdAt', 'updatedAt'],
];

export const runCard = [
  ...['id', 'campaignId', 'status', 'scheduledFor', 'startedAt', 'completedAt', 'retryOf'],
  ...['onlyNew', 'idempotencyKey', 'totalRecipients', 'dispatchedCount', 'failedCount'],
  ...['skippedCount', 'failureReason', 'holdReason', 'waitReason', 'nextDispatchAt'],
  ...['createdBy', 'createdAt'],
];

const several = { multiple: true } as const;

/** Flags for content and audience of a campaign. */
export const campaignFlags = {
  subject: Flags.string({ description: 'Subject, with Liquid' }),
  html: Flags.string({ description: 'HTML with Liquid, @FILE, or - for standard input' }),
  text: Flags.string({ description: 'Plain text with Liquid, @FILE, or - for standard input' }),
  template: Flags.string({
    description: 'Published template instead of subject, HTML and text',
    helpValue: 'SLUG',
    exclusive: ['subject', 'html', 'text'],
  }),
  from: Flags.string({
    description: 'From address (default: the default sender)',
    helpValue: 'ADDRESS',
  }),
  'reply-to': Flags.string({
    description: 'Address for answers; may be repeated',
    helpValue: 'ADDRESS',
    ...several,
  }),
  attach: Flags.string({
    description: 'File to attach; may be repeated',
    helpValue: 'FILE',
    ...several,
  }),
  'unsubscribe-group': Flags.string({
    description: 'Unsubscribe group, which recipients can leave',
    helpValue: 'ID',
  }),
  tag: Flags.string({ description: 'Contacts with this tag; may be repeated', ...several }),
  'exclude-tag': Flags.string({
    description: 'None of the contacts with this tag; may be repeated',
    ...several,
  }),
  group: Flags.string({
    description: 'Members of this group of contacts; may be repeated',
    helpValue: 'ID',
    ...several,
  }),
  contact: Flags.string({
    description: 'This contact; may be repeated',
    helpValue: 'ID',
    ...several,
  }),
};

function lists(flags: Record<string, unknown>, name: string): string[] | undefined {
  return flags[name] as string[] | undefined;
}

/** Returns the parts of a campaign that flags set, merged with the same parts in `data`. */
export async function campaignFrom(
  flags: Record<string, unknown>,
  data: { email?: object; audience?: object },
): Promise<object> {
  const typed = flags as Record<string, string | undefined>;
  const { template } = typed;
  const email = given({
    subject: typed.subject,
    html: await textFrom(typed.html),
    text: await textFrom(typed.text),
    templateId: template?.startsWith('tmpl_') ? template : undefined,
    templateSlug: template?.startsWith('tmpl_') ? undefined : template,
    replyTo: lists(flags, 'reply-to'),
    attachments: await attachmentsFrom(lists(flags, 'attach')),
    unsubscribeGroupId: typed['unsubscribe-group'],
  });
  const audience = given({
    includeTags: lists(flags, 'tag'),
    excludeTags: lists(flags, 'exclude-tag'),
    groupIds: lists(flags, 'group'),
    contactIds: lists(flags, 'contact'),
  });
  const isGiven = (part: object) => Object.keys(part).length > 0;
  return given({
    email: isGiven(email) ? { ...data.email, ...email } : undefined,
    audience: isGiven(audience) ? { ...data.audience, ...audience } : undefined,
    from: typed.from === undefined ? undefined : party(typed.from),
  });
}

/** Returns the warnings of a campaign as a single text; null without warnings. */
export function campaignWarning({
  warnings,
}: {
  warnings: readonly { message: string }[];
}): string | null {
  return warnings.length === 0 ? null : warnings.map(({ message }) => message).join('\n');
}

/**
 * Returns texts for people with everything that recipients get of a campaign, and with notes on the
 * HTML.
 */
export async function campaignMailShown({
  from,
  replyTo,
  subject,
  preheader,
  text,
  html,
  notes,
  attachments,
}: CampaignPreview): Promise<string[]> {
  const { card } = await import('../output/format.ts');
  const { fileShown, wordsShown } = await import('../review/view.ts');
  const head = {
    from: from.name === null ? from.email : `${from.name} <${from.email}>`,
    replyTo,
    subject,
    preheader,
    attached: attachments.map(fileShown),
  };
  return [card(head, Object.keys(head)), ...wordsShown({ text, html }, notes)];
}
