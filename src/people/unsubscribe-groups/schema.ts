// Input and output shapes of unsubscribe groups.
import { z } from 'zod';
import { headerText } from '../../core/api/address-schema.ts';
import { noun } from '../../core/api/noun.ts';
import { pageQuery } from '../../core/api/pagination.ts';
import { idPrefixes } from '../../platform/runtime/ids.ts';

export const unsubscribeGroupNoun = noun('unsubscribe-group', idPrefixes.unsubscribeGroup);

const name = headerText(100)
  .min(1)
  .meta({ description: 'Name that recipients read on the unsubscribe page' });
const description = headerText(500).meta({ description: 'Kind of mail, for recipients' });
const isPublic = z.boolean().meta({
  description: 'List it on the unsubscribe page of every recipient (default: no)',
});

const confirm = z.boolean().meta({
  description: 'Ask each added contact by mail to confirm: double opt-in (default: no)',
});

export const listGroupsQuery = z.strictObject({ ...pageQuery });

export const createGroupInput = z
  .strictObject({
    name,
    description: description.nullish(),
    public: isPublic.optional(),
    confirm: confirm.optional(),
  })
  .meta({ examples: [{ name: 'Newsletter', description: 'News, once a month' }] });

export const updateGroupInput = z
  .strictObject({
    name: name.optional(),
    description: description.nullable().optional(),
    public: isPublic.optional(),
    confirm: confirm.optional(),
  })
  .meta({ examples: [{ name: 'Monthly newsletter', public: true }] });

export const groupOutput = z
  .object({
    id: z.string(),
    organizationId: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    public: z.boolean(),
    confirm: z.boolean(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: 'UnsubscribeGroup', description: 'A kind of mail that recipients can leave' });

export type CreateGroup = z.output<typeof createGroupInput>;
export type UpdateGroup = z.output<typeof updateGroupInput>;
export type UnsubscribeGroup = z.output<typeof groupOutput>;
