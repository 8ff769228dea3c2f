// The answers of a check, and the shape of a diagnosis. A diagnosis consists of the questions that
// it needs, and a pure function over the answers. diagnose.ts asks the questions and uses the first
// finding.
import {
  type ProbeAnswer,
  type ProbeQuestion,
  questionKey,
} from '../../../platform/net/dns-probe.ts';
import type { ExpectedRecord, RecordCheck } from '../dns-records.ts';
import type { ExpectedSpf } from '../expected-spf.ts';
import type { DomainKeyRow } from '../queries.ts';
import type { DiagnosisCode } from './codes.ts';

/** Problem of a record, and the remedy. */
export interface Finding {
  code: DiagnosisCode;
  /** The sentence for people; it becomes the `error` of the record. */
  error: string;
  remedy: string;
  /** Set if receivers ignore the record, although its text looks correct. */
  isInvalid?: true;
}

/** A record that is being diagnosed. */
export interface Suspect {
  record: ExpectedRecord;
  check: RecordCheck;
}

/** Recognizes a kind of problem. */
export interface Diagnosis {
  /**
   * Questions that `find` needs. Called again with their answers, which may lead to further
   * questions.
   */
  needs?(suspect: Suspect, facts: Facts): readonly ProbeQuestion[];
  find(suspect: Suspect, facts: Facts): Finding | null;
}

/** The checked domain, and the configuration and keys by which its records are judged. */
export interface Surroundings {
  domain: string;
  /** The registrable part of the domain. */
  organizational: string;
  mailHost: string;
  spf: ExpectedSpf;
  keys: readonly DomainKeyRow[];
  /** A random label that nobody has published. */
  randomLabel: string;
  /**
   * Returns the server to ask for the address of a name server; null for an address that must not
   * be asked.
   */
  authorityAt(address: string): string | null;
}

/** The DNS answers of a check, by question. */
export class Facts {
  readonly of: Surroundings;
  readonly #answers = new Map<string, ProbeAnswer>();

  constructor(of: Surroundings) {
    this.of = of;
  }

  put(question: ProbeQuestion, answer: ProbeAnswer): void {
    this.#answers.set(questionKey(question), answer);
  }

  /** Returns the answer; undefined if the question was not asked. */
  get(question: ProbeQuestion): ProbeAnswer | undefined {
    return this.#answers.get(questionKey(question));
  }

  /** Returns the values that the resolver found; none without an answer. */
  values(type: ProbeQuestion['type'], name: string): readonly string[] {
    return this.get({ type, name })?.values ?? [];
  }
}

/** Returns a name and all names above it, up to `top`; only the name if `top` is not above it. */
export function namesUpTo(name: string, top: string): string[] {
  const names = [name];
  for (let at = name; at !== top && at.endsWith(`.${top}`); ) {
    at = at.slice(at.indexOf('.') + 1);
    names.push(at);
  }
  return names;
}
