// Input and output shapes of unsubscribe groups.
import { z } from 'zod';
import { headerText } from '../../core/api/address-schema.ts';
import { fieldTable, flag, inColumn, optionalText, text } from '../../core/api/field-table.ts';
import { noun } from '../../core/api/noun.ts';
import { pageQuery } from '../../core/api/pagination.ts';
import { timeRange } from '../../core/api/resource-schema.ts';
import { idPrefixes } from '../../platform/runtime/ids.ts';

export const unsubscribeGroupNoun = noun('unsubscribe-group', idPrefixes.unsubscribeGroup);

export const groupFields = fieldTable({
  name: text(
    headerText(100)
      .min(1)
      .meta({ description: 'Name that recipients read on the unsubscribe page' }),
  ),
  description: optionalText(headerText(500).meta({ description: 'Kind of mail, for recipients' })),
  public: inColumn(
    'is_public',
    flag(
      z.boolean().meta({
        description: 'List it on the unsubscribe page of every recipient (default: no)',
      }),
    ),
  ),
  confirm: flag(
    z.boolean().meta({
      description: 'Ask each added contact by mail to confirm: double opt-in (default: no)',
    }),
  ),
});

export const listGroupsQuery = z.strictObject({ ...pageQuery, ...timeRange('groups created') });

export const createGroupInput = z
  .strictObject(groupFields.create)
  .meta({ examples: [{ name: 'Newsletter', description: 'News, once a month' }] });

export const updateGroupInput = z
  .strictObject(groupFields.update)
  .meta({ examples: [{ name: 'Monthly newsletter', public: true }] });

export const groupOutput = z
  .object(groupFields.output)
  .meta({ id: 'UnsubscribeGroup', description: 'A kind of mail that recipients can leave' });

export type UnsubscribeGroup = z.output<typeof groupOutput>;
