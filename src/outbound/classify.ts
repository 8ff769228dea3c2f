// From a server's refusal to the `errorCode` of a delivery (contract 5). The knowledge is in
// classify-rules.ts; here is only how a rule matches.
import { type ClassifyRule, classifyRules } from './classify-rules.ts';
import type { ErrorCode, RemoteReply } from './outcome.ts';

function matches(rule: ClassifyRule, reply: RemoteReply, detail: string): boolean {
  if (rule.isPermanent && (reply.code ?? 0) < 500) return false;
  if (rule.codes && !rule.codes.includes(reply.code ?? 0)) return false;
  if (rule.enhanced && !rule.enhanced.test(detail)) return false;
  return !rule.words || rule.words.test(reply.text);
}

/** What kind of refusal a 4yz or 5yz reply is; `unknown` where nothing known matches. */
export function classifyRefusal(reply: RemoteReply): ErrorCode {
  const detail = reply.enhancedCode?.slice(2) ?? '';
  return classifyRules.find((rule) => matches(rule, reply, detail))?.errorCode ?? 'unknown';
}
