// Diagrams fit the page; a click shows a large one in its own size, to be scrolled, and the next click shrinks it again.
{
  const { initialize, render } = mermaid;
  mermaid.initialize = (config) => initialize({ ...config, state: { ...config.state, useMaxWidth: false } });
  mermaid.render = async (...parameters) => {
    const result = await render(...parameters);
    const width = / width="([\d.]+)"/.exec(result.svg)?.[1];
    // The page cannot reach into the shadow root of a diagram, but properties of its style sheet can.
    const style = `<style>:host > svg { width: ${width}px; height: auto; max-width: var(--diagram-max-width, 100%) }</style>`;
    return { ...result, svg: style + result.svg };
  };
  document.addEventListener("click", ({ target, clientX, clientY }) => {
    const diagram = target.closest("div.mermaid");
    if (!diagram) return;
    const { left, top, width, height } = diagram.getBoundingClientRect();
    const x = (clientX - left) / width;
    const y = (clientY - top) / height;
    if (diagram.classList.toggle("in-full")) {
      diagram.scrollLeft = x * diagram.scrollWidth - diagram.clientWidth / 2;
      diagram.scrollTop = y * diagram.scrollHeight - diagram.clientHeight / 2;
    }
  });
}
