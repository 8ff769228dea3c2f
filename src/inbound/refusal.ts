// A refusal of incoming mail as a value (rule 6): the receive path decides it, the listener speaks
// it. Codes are of RFC 5321 4.2 and RFC 3463.
export interface InboundRefusal {
  kind: 'refused';
  code: number;
  enhancedCode: string;
  /** Names nothing that the client sent: refusals end up in other people's logs. */
  text: string;
  /** Whose policy it is; for our log alone. */
  domain?: string;
}

export function refused(code: number, enhancedCode: string, text: string): InboundRefusal {
  return { kind: 'refused', code, enhancedCode, text };
}
