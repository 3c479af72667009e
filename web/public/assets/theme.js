// Set the theme before the first paint: the stored choice, or that of the system.
(function () {
  var stored = null;
  try {
    stored = localStorage.getItem('antiphon.theme');
  } catch {
    // Storage may be switched off.
  }
  var dark = stored ? stored === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
})();
