// Input and output shapes of saved replies.
import { z } from 'zod';
import { headerText } from '../../core/api/address-schema.ts';
import { fieldTable, optionalText, text } from '../../core/api/field-table.ts';
import { noun } from '../../core/api/noun.ts';
import { pageQuery } from '../../core/api/pagination.ts';
import { timeRange } from '../../core/api/resource-schema.ts';

export const savedReplyNoun = noun('saved-reply', 'rpl');

/** Text or HTML of a saved reply. The limit bounds a page of 100 saved replies. */
const words = z
  .string()
  .min(1)
  .max(20_000)
  .refine((value) => !value.includes('\0'), 'must not contain NUL characters');

export const savedReplyFields = fieldTable({
  name: text(headerText(100).min(1).meta({ description: 'Name to choose it by' })),
  text: text(words.meta({ description: 'Plain text of the answer' })),
  html: optionalText(words.meta({ description: 'HTML of the answer' })),
});

export const listSavedRepliesQuery = z.strictObject({
  ...pageQuery,
  ...timeRange('saved replies created'),
});

export const createSavedReplyInput = z
  .strictObject(savedReplyFields.create)
  .meta({ examples: [{ name: 'Opening hours', text: 'We are here from 9 to 17.' }] });

export const updateSavedReplyInput = z
  .strictObject(savedReplyFields.update)
  .meta({ examples: [{ text: 'We are here from 9 to 18.' }] });

export const savedReplyOutput = z
  .object(savedReplyFields.output)
  .meta({ id: 'SavedReply', description: 'An answer to choose in place of writing it again' });
