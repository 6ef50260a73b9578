/** E-mail text that uses a known HTML element is HTML; "a < b" and "<3" are not. */
const knownElement =
  /<\/?(?:a|abbr|address|article|aside|b|blockquote|body|br|button|caption|center|code|col|colgroup|dd|del|div|dl|dt|em|figcaption|figure|font|footer|h[1-6]|head|header|hr|html|i|img|ins|kbd|li|link|main|mark|meta|nav|ol|p|picture|pre|q|s|section|small|span|strike|strong|style|sub|sup|table|tbody|td|tfoot|th|thead|title|tr|tt|u|ul|video)(?:\s[^<>]*)?\/?>/i

export const looksLikeHtml = (text: string): boolean => knownElement.test(text)
