// Input and output shapes of labels.
import { z } from 'zod';
import { headerText } from '../../../src/core/api/address-schema.ts';
import { fieldTable, flag, optionalText, text } from '../../../src/core/api/field-table.ts';
import { noun } from '../../../src/core/api/noun.ts';
import { pageQuery } from '../../../src/core/api/pagination.ts';

export const labelNoun = noun('label', 'lbl');

export const labelFields = fieldTable({
  name: text(headerText(100).min(1).meta({ description: 'Name of the label' })),
  color: optionalText(headerText(20).meta({ description: 'Color of the label' })),
  isPinned: flag(z.boolean().meta({ description: 'Show it before the rest (default: no)' })),
});

export const listLabelsQuery = z.strictObject({ ...pageQuery });

export const createLabelInput = z
  .strictObject(labelFields.create)
  .meta({ examples: [{ name: 'VIP', color: 'gold' }] });

export const updateLabelInput = z
  .strictObject(labelFields.update)
  .meta({ examples: [{ isPinned: true }] });

export const labelOutput = z
  .object(labelFields.output)
  .meta({ id: 'Label', description: 'A word on contacts' });
