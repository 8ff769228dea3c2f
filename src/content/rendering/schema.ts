// The shape of advice about a template, as answers show it.
import { z } from 'zod';

export const templateWarning = z
  .object({
    code: z.string().meta({ description: 'Short name of the rule, such as `image-without-alt`' }),
    message: z.string().describe('Sentence on the problem and the remedy'),
    path: z.string().nullable().meta({ description: 'The file, if the warning is about one' }),
    line: z.number().nullable().meta({ description: 'Line in the file, from 1' }),
  })
  .meta({ id: 'TemplateWarning', description: 'Advice about content, which refuses nothing' });
