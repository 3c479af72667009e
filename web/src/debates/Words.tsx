import { memo } from 'react';

/** The words of a model: paragraphs of plain text. */
export const Words = memo(function Words({ text, isLive = false }: { text: string; isLive?: boolean }) {
  const paragraphs = text.split(/\n{2,}/);
  return (
    <div className="turn-words">
      {paragraphs.map((paragraph, index) => (
        <p key={index}>
          {paragraph}
          {isLive && index === paragraphs.length - 1 && <span className="caret" />}
        </p>
      ))}
    </div>
  );
});
