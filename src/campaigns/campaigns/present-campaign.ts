// Campaigns in the form of the API, and as rows.

import type { TemplateWarning } from '../../content/rendering/compiled.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { fromJson } from '../../platform/store/db.ts';
import type { Audience } from '../audience/schema.ts';
import type { CampaignEmail } from '../content/schema.ts';
import type { CampaignRow, ListedCampaign } from './queries.ts';
import type { Campaign } from './schema.ts';

type Sender = { email: string; name?: string | undefined };

/** The parts of a campaign that a run depends on. */
export interface CampaignFacts {
  email: CampaignEmail;
  from: Sender | undefined;
  audience: Audience;
  conversationId: string | null;
  metadata: Campaign['metadata'];
  transactional: boolean;
}

const bodyFields = ['html', 'text', 'attachments'] as const;

/** Returns the columns of a content: its body apart, as lists do not read it. */
export function contentColumns(email: CampaignEmail): Pick<CampaignRow, 'email' | 'body'> {
  const { html, text, attachments, ...rest } = email;
  const hasBody = bodyFields.some((field) => email[field] !== undefined);
  return {
    email: JSON.stringify(rest),
    body: hasBody ? JSON.stringify({ html, text, attachments }) : null,
  };
}

/** Returns a stored campaign as its callers gave it. */
export function factsOf(row: CampaignRow): CampaignFacts {
  return {
    email: {
      ...fromJson<CampaignEmail>(row.email),
      ...fromJson<Partial<CampaignEmail>>(row.body),
    },
    from: fromJson<Sender>(row.sender) ?? undefined,
    audience: fromJson<Audience>(row.audience),
    conversationId: row.conversation_id,
    metadata: fromJson<NonNullable<Campaign['metadata']>>(row.metadata),
    transactional: row.transactional === 1,
  };
}

/** Tells whether mail to tags or groups lacks a way to leave it. */
export function lacksUnsubscribeGroup({
  email,
  audience,
  transactional,
}: Pick<CampaignFacts, 'audience' | 'transactional'> & {
  email: { unsubscribeGroupId?: string | undefined };
}): boolean {
  const isWide = audience.includeTags.length > 0 || audience.groupIds.length > 0;
  return isWide && email.unsubscribeGroupId === undefined && !transactional;
}

/** Remedy of a campaign without a way to leave it. */
export const unsubscribeRemedy =
  'mail to tags or groups needs a group that its recipients can leave: give one ' +
  '(`svc unsubscribe-groups create`), or set `transactional` if all of them must get it';

const noUnsubscribeGroup: TemplateWarning = {
  code: 'no-unsubscribe-group',
  message: `A run is refused: ${unsubscribeRemedy}`,
  path: null,
  line: null,
};

/** Presents a campaign; a listed one has no body. */
export function presentCampaign(row: CampaignRow | ListedCampaign): Campaign {
  const { email, from, ...facts } = factsOf({ body: null, ...row });
  const advice = fromJson<TemplateWarning[]>(row.warnings);
  const isRefused = lacksUnsubscribeGroup({ email, ...facts });
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    channel: row.channel,
    email,
    from: from ? { email: from.email, name: from.name ?? null } : null,
    ...facts,
    warnings: isRefused ? [noUnsubscribeGroup, ...advice] : advice,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}
