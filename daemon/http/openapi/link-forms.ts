// Fields of the forms behind links in mail, for the OpenAPI document. A browser or a mail program
// posts them. The pages in `src/consent/` and `src/outbound/sending/` read them.
import { z } from 'zod';
import { leaveActions } from '../../../src/consent/unsubscribe-page/serve.ts';

/** The form of `/u/{token}`. */
export const leaveForm = z
  .object({
    'List-Unsubscribe': z
      .literal('One-Click')
      .optional()
      .describe('Post of a mail program (RFC 8058): leaves the group of the message'),
    action: z
      .enum([...leaveActions.keys()])
      .optional()
      .describe('Button of the page: leave or return, for a group or for all mail'),
    group: z
      .string()
      .optional()
      .describe('Id of a listed group (default: the group of the message)'),
  })
  .meta({ examples: [{ 'List-Unsubscribe': 'One-Click' }] });

/** The form of `/c/{token}`. */
export const confirmForm = z
  .object({ action: z.literal('confirm').describe('Button of the page: confirms the group') })
  .meta({ examples: [{ action: 'confirm' }] });

/** The form of `/verify/{token}`. */
export const proofForm = z
  .object({ action: z.literal('verify').describe('Button of the page: proves the address') })
  .meta({ examples: [{ action: 'verify' }] });
