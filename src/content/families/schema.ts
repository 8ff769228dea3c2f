// Input and output shapes of families of templates (specification 2.8, 4.6).
import { z } from 'zod';
import { headerText } from '../../core/api/address-schema.ts';
import { computed, fieldTable, text } from '../../core/api/field-table.ts';
import { pageQuery } from '../../core/api/pagination.ts';
import { idOf, timeRange } from '../../core/api/resource-schema.ts';
import { familyNoun, templateNoun, templateOutput } from '../templates/schema.ts';

export const familyFields = fieldTable({
  name: text(headerText(200).min(1).meta({ description: 'Name of the family' })),
  members: computed(
    z
      .array(
        templateOutput.pick({
          id: true,
          name: true,
          slug: true,
          channel: true,
          status: true,
          isActive: true,
          createdAt: true,
          updatedAt: true,
        }),
      )
      .describe('Templates of the family'),
  ),
});

export const familyPath = z.strictObject({
  familyId: idOf(familyNoun, 'is not a template family id').describe('Id of the family'),
});

export const memberPath = familyPath.extend({
  templateId: idOf(templateNoun, 'is not a template id').describe('Id of the template'),
});

export const listFamiliesQuery = z.strictObject({ ...pageQuery, ...timeRange('families created') });

export const createFamilyInput = z
  .strictObject(familyFields.create)
  .meta({ examples: [{ name: 'Order shipped' }] });

export const updateFamilyInput = z
  .strictObject(familyFields.update)
  .meta({ examples: [{ name: 'Orders' }] });

export const familyOutput = z
  .object(familyFields.output)
  .meta({ id: 'TemplateFamily', description: 'Templates that belong together' });

export type ListFamilies = z.output<typeof listFamiliesQuery>;
export type CreateFamily = z.output<typeof createFamilyInput>;
export type UpdateFamily = z.output<typeof updateFamilyInput>;
export type Family = z.output<typeof familyOutput>;
