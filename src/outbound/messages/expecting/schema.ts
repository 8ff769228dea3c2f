// Schemas of the wait for a mail, and of the codes and links of a message.
import { z } from 'zod';
import { emailAddress } from '../../../core/api/address-schema.ts';
import { timeStart } from '../../../core/api/resource-schema.ts';
import { message } from '../schema.ts';

const subjectCharacters = 255;

export const extractsOutput = z
  .object({
    codes: z
      .array(
        z.object({
          value: z.string().meta({ description: 'Digits without spaces and prefix' }),
          context: z.string().meta({ description: 'Words around it' }),
        }),
      )
      .describe('Codes in the mail, such as sign-in codes'),
    links: z
      .array(
        z.object({
          url: z.string().describe('Target of the link'),
          text: z.string().meta({ description: 'Words that a reader sees in its place' }),
        }),
      )
      .describe('Links in the mail'),
  })
  .meta({
    id: 'MailExtracts',
    description: 'One-time codes, the likeliest first, and links in their order',
  });

/** Fields that the route and the command share. */
export const expectedMail = z.strictObject({
  to: emailAddress.meta({
    description: 'Address of the recipient',
    examples: ['inbox@sandbox.test'],
  }),
  subject: z.string().min(1).max(subjectCharacters).optional().meta({
    description: 'RE2 pattern that a part of the subject matches, in any case of letters',
  }),
});

export type ExpectedMail = z.output<typeof expectedMail>;

export const expectQuery = z
  .strictObject({
    ...expectedMail.shape,
    ...timeStart('mail created (default: the last minute)'),
    within: z
      .string()
      .regex(/^\d{1,6}s?$/, 'must be seconds, such as 20 or 20s')
      .default('20s')
      .transform((text) => Number.parseInt(text, 10))
      .meta({
        description:
          'Longest wait in seconds, at most 25, and 3 less than the time limit of a request',
      }),
  })
  .meta({ id: 'ExpectMessageQuery' });
export type ExpectQuery = z.output<typeof expectQuery>;

export const expectedMessage = z
  .object({
    message: message.describe('Message that arrived'),
    text: z
      .string()
      .nullable()
      .meta({ description: 'Text of the mail, made from the HTML if it has no text' }),
    ...extractsOutput.shape,
  })
  .meta({ id: 'ExpectedMessage', description: 'A message with text, codes and links' });
export type ExpectedMessage = z.output<typeof expectedMessage>;
