// Input and output shapes of members.
import { z } from 'zod';
import { headerText } from '../../core/api/address-schema.ts';
import { noun } from '../../core/api/noun.ts';
import { pageQuery } from '../../core/api/pagination.ts';
import { timeRange } from '../../core/api/resource-schema.ts';
import { roles } from '../../core/config/roles.ts';
import { personAddress } from './address.ts';

export const memberNoun = noun('member', 'mem');

const longestName = 100;

const name = headerText(longestName).min(1).meta({ description: 'Name in this organization' });
const role = z.enum(roles).meta({ description: 'Role of the member' });

export const createMemberInput = z
  .strictObject({
    email: personAddress.describe('Address of the person'),
    role,
    name: name.nullish(),
    mail: z.boolean().default(true).meta({
      description:
        'Mail the invitation (default: true); without it, the operator hands over a link',
    }),
  })
  .meta({ examples: [{ email: 'ann@example.com', role: 'developer', name: 'Ann' }] });

export const updateMemberInput = z
  .strictObject({
    name: name.nullable().optional(),
    role: role.optional(),
    status: z
      .enum(['active', 'disabled'], 'must be active or disabled: invite with POST /v1/members')
      .optional()
      .meta({ description: 'Whether the member may open pages of this organization' }),
  })
  .meta({ examples: [{ role: 'admin' }] });

export const listMembersQuery = z.strictObject({ ...pageQuery, ...timeRange('members invited') });

const at = (event: string) => z.string().nullable().describe(`Time of ${event}; null without one`);

export const memberOutput = z
  .object({
    id: z.string().describe('Id of the member, in this organization'),
    email: z.string().describe('Address of the person'),
    name: z.string().nullable().describe('Name in this organization; null without one'),
    role: z.enum(roles).describe('Role of the member'),
    status: z
      .enum(['invited', 'active', 'disabled'])
      .describe('invited: until the person accepts; disabled: signs in here no more'),
    signIn: z
      .object({
        link: z.boolean().describe('Whether the service mails links to sign in'),
        passkey: z.boolean().describe('Whether the person has a passkey'),
        provider: z.boolean().describe('Whether the person is bound to single sign-on'),
      })
      .describe('Ways to sign in; all false for an invited member'),
    invitedBy: z
      .string()
      .nullable()
      .describe('Member or key that invited; null for the operator and for single sign-on'),
    expiresAt: at('the end of the invitation'),
    acceptedAt: at('the acceptance'),
    lastSeenAt: at('the last request in the console'),
    createdAt: z.string().describe('Time of the invitation'),
  })
  .meta({ id: 'Member', description: 'The place of a person in an organization' });

export type CreateMember = z.input<typeof createMemberInput>;
export type UpdateMember = z.output<typeof updateMemberInput>;
export type ListMembers = z.output<typeof listMembersQuery>;
export type Member = z.output<typeof memberOutput>;
