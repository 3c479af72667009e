import { formatSeconds, plural } from '../parts/format';
import { Markdown } from '../parts/Markdown';
import { useNow } from '../parts/useNow';
import { countWords, estimateTokens, formatUsd } from './figures';
import { letterOf, roundTitle, turnId, type RoundRow, type Turn } from './reading';
import type { LiveReply } from '../wire/replies';
import type { Debate, Participant, Response } from './types';

function SaidFoot({ response }: { response: Response }) {
  const { input, output, estimated } = response.usage;
  const title =
    input === undefined ? undefined : `${plural(input, 'token')} read, ${plural(output ?? 0, 'token')} written`;
  return (
    <p className="turn-foot" title={title}>
      {formatSeconds(response.latencyMs)} · {plural(response.tokensUsed, 'token')}
      {estimated ? ' (estimated)' : ''} · {formatUsd(response.cost)}
    </p>
  );
}

function LiveFoot({ reply }: { reply: LiveReply }) {
  const now = useNow(true);
  const elapsed = reply.sentAt === null ? 0 : Math.max(0, now - reply.sentAt);
  const tokens = reply.tokens ?? estimateTokens(reply.text + reply.thinking);
  const facts = [
    reply.text === '' ? (reply.thinking === '' ? 'waiting for the model' : 'thinking') : 'speaking',
    formatSeconds(elapsed),
  ];
  if (tokens > 0) facts.push(`${reply.tokens === null ? '≈ ' : ''}${plural(tokens, 'token')}`);
  if (tokens > 0 && reply.tokens === null && elapsed > 1_000)
    facts.push(`${Math.round(tokens / (elapsed / 1_000))} tok/s`);
  if (reply.costUsd !== null) facts.push(formatUsd(reply.costUsd));
  return (
    <p className="turn-foot" aria-hidden="true">
      {facts.join(' · ')}
    </p>
  );
}

function LiveTurn({ reply, name }: { reply: LiveReply; name: string }) {
  const message = reply.error?.['message'];
  return (
    <>
      {reply.thinking !== '' && (
        <details className="thinking">
          <summary>Thinking</summary>
          <Markdown text={reply.thinking} />
        </details>
      )}
      {typeof message === 'string' && (
        <p className="turn-problem">
          {message}. {name} is asked again.
        </p>
      )}
      <Markdown text={reply.text} isLive />
      <LiveFoot reply={reply} />
    </>
  );
}

function CutTurn({ text }: { text: string }) {
  return (
    <>
      {text !== '' && <Markdown text={text} />}
      <p className="turn-foot" data-kind="cut">
        {text === '' ? 'cut before the first word' : `cut after ${plural(countWords(text), 'word')}`} · asked again when
        the debate continues
      </p>
    </>
  );
}

function TurnBody({ turn, name, isHeld }: { turn: Turn; name: string; isHeld: boolean }) {
  switch (turn.kind) {
    case 'said':
      return (
        <>
          <Markdown text={turn.response.content} />
          <SaidFoot response={turn.response} />
        </>
      );
    case 'failed':
      return (
        <p className="turn-problem">
          {name} did not answer: {turn.response.error?.message ?? 'nothing came'}.
        </p>
      );
    case 'live':
      return <LiveTurn reply={turn.reply} name={name} />;
    case 'cut':
      return <CutTurn text={turn.text} />;
    case 'waiting':
      return <p className="turn-foot">{isHeld ? 'has not spoken in this round' : 'speaks next'}</p>;
    default:
      return <p className="turn-foot">did not speak in this round</p>;
  }
}

/** One turn of a debater in a round. */
export function TurnCell({ debate, row, speaker }: { debate: Debate; row: RoundRow; speaker: Participant }) {
  const turn = row.turns[speaker.id] ?? { kind: 'absent' };
  const id = turnId({ participantId: speaker.id, phase: row.phase, round: row.roundNumber });
  const isHeld = debate.state === 'paused' || debate.state === 'error';
  return (
    <article
      className={`turn side-${letterOf(debate, speaker.id)}`}
      id={id}
      tabIndex={-1}
      data-kind={turn.kind}
      aria-busy={turn.kind === 'live'}
      aria-label={`${speaker.name}, ${roundTitle(row.phase, row.roundNumber)}`}
    >
      <TurnBody turn={turn} name={speaker.name} isHeld={isHeld} />
    </article>
  );
}
