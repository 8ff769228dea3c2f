// Prepares a send before the accept transaction: fills in the template, then decodes and digests
// the content.
import type { TemplateWarning } from '../../content/rendering/compiled.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { ServiceError } from '../../platform/errors.ts';
import type { SendPayload } from '../messages/send-schema.ts';
import { composeSend, isComposed } from './compose-send.ts';
import { digestedContent, prepareContent, type SendContent } from './content.ts';
import type { FilledTemplate } from './draft.ts';

/** A payload with content, for the accept transaction. */
export interface PreparedSend {
  caller: Caller;
  payload: SendPayload;
  content: SendContent;
  template?: FilledTemplate;
  /**
   * Refusal of the template or the content. A repeat of an accepted send ignores it, and gets the
   * first answer.
   */
  refusal?: ServiceError;
  preheader?: string | null;
  warnings?: TemplateWarning[];
}

/**
 * Fills in, decodes and digests the content of a payload. For a send that names a template, returns
 * a ServiceError as `refusal` instead of throwing it.
 */
export async function prepareSend(
  app: App,
  caller: Caller,
  payload: SendPayload,
  isDryRun = false,
): Promise<PreparedSend> {
  const { organizationId } = caller;
  if (!isComposed(payload)) {
    return { caller, payload, content: await prepareContent(app, organizationId, payload) };
  }
  try {
    const composed = await composeSend(app, caller, payload, isDryRun);
    const content = await prepareContent(app, organizationId, composed.payload);
    return { caller, ...composed, content };
  } catch (refusal) {
    if (!(refusal instanceof ServiceError)) throw refusal;
    return { caller, payload, content: nothing, refusal };
  }
}

/** Content of a refused send. */
const nothing = digestedContent('', { html: null, text: null, attachments: [] });
