// Campaigns in the form of the API, and as rows.

import type { TemplateWarning } from '../../content/rendering/compiled.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { fromJson } from '../../platform/store/db.ts';
import type { Audience } from '../audience/schema.ts';
import type { CampaignEmail } from '../mail/schema.ts';
import type { CampaignMail } from '../mail/snapshot.ts';
import type { CampaignRow, ListedCampaign } from './queries.ts';
import type { Campaign } from './schema.ts';

type Sender = NonNullable<CampaignMail['from']>;

/** Parts of a campaign that go into a run. */
export interface CampaignFacts extends CampaignMail {
  audience: Audience;
  transactional: boolean;
}

/** Parts of a campaign that can be large. */
interface Body extends Pick<CampaignEmail, 'html' | 'text' | 'attachments' | 'templateData'> {
  contactIds: string[];
}

/**
 * Returns the columns of a content and an audience. `body` has the large parts, which lists do not
 * read.
 */
export function contentColumns({
  email: { html, text, attachments, templateData, ...email },
  audience: { contactIds, ...audience },
}: Pick<CampaignFacts, 'email' | 'audience'>): Pick<CampaignRow, 'email' | 'audience' | 'body'> {
  const body: Body = { html, text, attachments, templateData, contactIds };
  return {
    email: JSON.stringify(email),
    audience: JSON.stringify(audience),
    body: JSON.stringify(body),
  };
}

type Lists = Omit<Audience, 'contactIds'>;

/** Returns the parts of a campaign that do not depend on the body. */
function listedFacts(row: ListedCampaign) {
  return {
    email: fromJson<CampaignEmail>(row.email),
    from: fromJson<Sender>(row.sender) ?? undefined,
    audience: fromJson<Lists>(row.audience),
    conversationId: row.conversation_id,
    metadata: fromJson<NonNullable<CampaignMail['metadata']>>(row.metadata),
    transactional: row.transactional === 1,
  };
}

/** Returns a stored campaign as callers gave it. */
export function factsOf(row: CampaignRow): CampaignFacts {
  const { email, audience, ...facts } = listedFacts(row);
  const { contactIds, ...content } = fromJson<Body>(row.body);
  return { ...facts, email: { ...email, ...content }, audience: { ...audience, contactIds } };
}

/** Tells whether mail to tags or groups lacks a required unsubscribe group. */
export function lacksUnsubscribeGroup({
  email,
  audience,
  transactional,
}: Pick<CampaignFacts, 'email' | 'transactional'> & { audience: Lists }): boolean {
  const isWide = audience.includeTags.length > 0 || audience.groupIds.length > 0;
  return isWide && email.unsubscribeGroupId === undefined && !transactional;
}

/** Remedy for mail to tags or groups without an unsubscribe group. */
export const unsubscribeRemedy =
  'mail to tags or groups needs a group that its recipients can leave: give one ' +
  '(`svc unsubscribe-groups create`), or set `transactional` if all of them must get it';

/** Warning of a campaign without an unsubscribe group: a run is refused. */
const noUnsubscribeGroup: TemplateWarning = {
  code: 'no-unsubscribe-group',
  message: `A run is refused: ${unsubscribeRemedy}`,
  path: null,
  line: null,
};

/** Presents a campaign; a listed campaign has no body. */
export function presentCampaign(row: CampaignRow | ListedCampaign): Campaign {
  const facts = 'body' in row ? factsOf(row) : listedFacts(row);
  const { from, ...shown } = facts;
  const advice = fromJson<TemplateWarning[]>(row.warnings);
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    channel: row.channel,
    from: from ? { email: from.email, name: from.name ?? null } : null,
    ...shown,
    metadata: facts.metadata ?? null,
    warnings: lacksUnsubscribeGroup(facts) ? [noUnsubscribeGroup, ...advice] : advice,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}
