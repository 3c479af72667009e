import { memo } from 'react';
import { CodeBlock } from '../parts/CodeBlock';
import { plural } from '../parts/format';
import { Markdown } from '../parts/Markdown';
import { ToolCard, type ToolStatus } from '../parts/ToolCard';
import { showHidden } from '../parts/visible';
import { unfenced } from './attachments';
import { resultText, type CallPart, type ChatMessage, type Part, type ResultPart } from './content';
import { Thinking } from './Thinking';

export interface CallState {
  status: ToolStatus;
  result: ResultPart | null;
  ms: number | null;
  progress: { text: string; fraction?: number } | null;
}

interface Props {
  message: ChatMessage;
  callState: (call: CallPart) => CallState;
}

function ImageView({ mediaType, data }: { mediaType: string; data?: string | undefined }) {
  // A picture that is named by an address is not loaded: the page speaks to its server alone.
  if (data === undefined || !/^image\/(png|jpeg|gif|webp)$/.test(mediaType))
    return <p className="note">[image, {mediaType}]</p>;
  return <img className="picture" src={`data:${mediaType};base64,${data}`} alt="Attached" />;
}

/** What a person said: files are folded, and words are shown as they were written. */
function Said({ text }: { text: string }) {
  const { files, rest } = unfenced(text);
  return (
    <>
      {files.map((file, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- the files of a message never change
        <details key={index} className="card tool">
          <summary className="card-head">
            <span className="card-name attached-name">{showHidden(file.name)}</span>
            <span className="card-line">{plural(file.text.length, 'character')}</span>
          </summary>
          <div className="card-body">
            <CodeBlock code={file.text} label={showHidden(file.name)} />
          </div>
        </details>
      ))}
      {rest === '' && files.length > 0 ? null : <p className="said">{rest}</p>}
    </>
  );
}

function DocumentView({ name }: { name: string }) {
  return (
    <p className="note">
      Attached: <span className="break-words">{showHidden(name)}</span>
    </p>
  );
}

function PartView({ part, role, callState }: { part: Part; role: string; callState: Props['callState'] }) {
  switch (part.type) {
    case 'text':
      return role === 'user' ? <Said text={part.text} /> : <Markdown text={part.text} />;
    case 'thinking':
      return part.redacted || part.text === '' ? null : <Thinking text={part.text} />;
    case 'image':
      return <ImageView mediaType={part.mediaType} data={part.data} />;
    case 'document':
      return <DocumentView name={part.name ?? part.mediaType} />;
    case 'toolCall': {
      const { status, result, ms, progress } = callState(part);
      return (
        <ToolCard
          name={part.name}
          status={status}
          input={part.arguments}
          ms={ms}
          progress={progress}
          result={result === null ? undefined : resultText(result)}
        />
      );
    }
    default:
      return null;
  }
}

/** The parts of a message: texts, thinking, pictures and calls of tools. */
export const Parts = memo(function Parts({ message, callState }: Props) {
  return message.parts.map((part, index) => (
    // oxlint-disable-next-line react/no-array-index-key -- the parts of a message never change
    <PartView key={index} part={part} role={message.role} callState={callState} />
  ));
});
