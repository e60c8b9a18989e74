//! Expressions back to text, in the form in which SQL Server stores defaults, checks and filters:
//! names in brackets, numbers in parentheses, functions in lower case, no spaces around operators.

use crate::ast::{
    BinaryOp, Call, CompareOp, Condition, Expr, ExprKind, Literal, ObjectName, TypeArg, TypeName,
    UnaryOp,
};

/// The stored form of an expression, without the outer parentheses that the catalog adds.
pub fn render_expr(expr: &Expr) -> String {
    let mut out = String::new();
    value(&mut out, expr);
    out
}

/// The stored form of a condition, without the outer parentheses that the catalog adds.
pub fn render_condition(condition: &Condition) -> String {
    let mut out = String::new();
    truth(&mut out, condition);
    out
}

fn value(out: &mut String, expr: &Expr) {
    match &expr.kind {
        ExprKind::Literal(it) => literal(out, it),
        ExprKind::Variable(name) => out.push_str(name),
        ExprKind::GlobalVariable(name) => {
            out.push_str("@@");
            out.push_str(&name.to_lowercase());
        }
        ExprKind::Column(it) => name(out, it),
        ExprKind::Binary(op, left, right) => {
            operand(out, left, *op, false);
            out.push(operator(*op));
            operand(out, right, *op, true);
        }
        ExprKind::Unary(op, inner) => unary(out, *op, inner),
        ExprKind::Call(it) => call(out, it),
        ExprKind::Cast { expr, ty, try_ } => cast(out, expr, ty, *try_),
        ExprKind::Convert {
            expr,
            ty,
            style,
            try_,
        } => match style {
            None => cast(out, expr, ty, *try_),
            Some(style) => styled(out, expr, ty, style, *try_),
        },
        ExprKind::SimpleCase {
            operand,
            whens,
            otherwise,
        } => {
            out.push_str("case ");
            value(out, operand);
            for (when, then) in whens {
                out.push_str(" when ");
                value(out, when);
                out.push_str(" then ");
                value(out, then);
            }
            case_end(out, otherwise.as_deref());
        }
        ExprKind::SearchedCase { whens, otherwise } => {
            out.push_str("case");
            for (when, then) in whens {
                out.push_str(" when ");
                truth(out, when);
                out.push_str(" then ");
                value(out, then);
            }
            case_end(out, otherwise.as_deref());
        }
        ExprKind::Iif {
            condition,
            then,
            otherwise,
        } => {
            out.push_str("case when ");
            truth(out, condition);
            out.push_str(" then ");
            value(out, then);
            case_end(out, Some(otherwise));
        }
        ExprKind::Subquery(_) => out.push_str("(SELECT …)"),
        ExprKind::Collate(inner, collation) => {
            value(out, inner);
            out.push_str(" collate ");
            out.push_str(&collation.name);
        }
        ExprKind::AtTimeZone(inner, zone) => {
            value(out, inner);
            out.push_str(" AT TIME ZONE ");
            value(out, zone);
        }
    }
}

/// CAST is kept as CONVERT, and TRY_CONVERT without a style as TRY_CAST.
fn cast(out: &mut String, expr: &Expr, ty: &TypeName, try_: bool) {
    if try_ {
        out.push_str("TRY_CAST(");
        value(out, expr);
        out.push_str(" AS ");
        type_name(out, ty);
    } else {
        out.push_str("CONVERT(");
        type_name(out, ty);
        out.push(',');
        value(out, expr);
    }
    out.push(')');
}

fn styled(out: &mut String, expr: &Expr, ty: &TypeName, style: &Expr, try_: bool) {
    out.push_str(if try_ { "TRY_CONVERT(" } else { "CONVERT(" });
    type_name(out, ty);
    out.push(',');
    value(out, expr);
    out.push(',');
    value(out, style);
    out.push(')');
}

fn case_end(out: &mut String, otherwise: Option<&Expr>) {
    if let Some(otherwise) = otherwise {
        out.push_str(" else ");
        value(out, otherwise);
    }
    out.push_str(" end");
}

fn literal(out: &mut String, literal: &Literal) {
    match literal {
        Literal::Null => out.push_str("NULL"),
        Literal::Integer(digits) => {
            let trimmed = digits.trim_start_matches('0');
            let digits = if trimmed.is_empty() { "0" } else { trimmed };
            out.push_str(&format!("({digits})"));
        }
        Literal::Decimal(text) | Literal::Float(text) => out.push_str(&format!("({text})")),
        Literal::Money(text) => out.push_str(&format!("({text})")),
        Literal::String(text) => out.push_str(&format!("'{}'", text.replace('\'', "''"))),
        Literal::NString(text) => out.push_str(&format!("N'{}'", text.replace('\'', "''"))),
        Literal::Binary(bytes) => {
            out.push_str("0x");
            for byte in bytes {
                out.push_str(&format!("{byte:02X}"));
            }
        }
    }
}

fn name(out: &mut String, name: &ObjectName) {
    for (i, part) in name.parts.iter().enumerate() {
        if i > 0 {
            out.push('.');
        }
        out.push_str(&format!("[{}]", part.name.replace(']', "]]")));
    }
}

fn unary(out: &mut String, op: UnaryOp, inner: &Expr) {
    let sign = match op {
        UnaryOp::Minus => '-',
        UnaryOp::Plus => '+',
        UnaryOp::BitNot => '~',
    };
    // A signed number is one literal in the catalog: (-1), not -(1).
    if let ExprKind::Literal(
        Literal::Integer(digits) | Literal::Decimal(digits) | Literal::Float(digits),
    ) = &inner.kind
    {
        out.push_str(&format!("({sign}{digits})"));
        return;
    }
    out.push(sign);
    if matches!(inner.kind, ExprKind::Binary(..)) {
        out.push('(');
        value(out, inner);
        out.push(')');
    } else {
        value(out, inner);
    }
}

/// An operand, in parentheses where precedence would otherwise regroup it.
fn operand(out: &mut String, expr: &Expr, outer: BinaryOp, right: bool) {
    let product = |op| matches!(op, BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod);
    let wrap = match &expr.kind {
        ExprKind::Binary(inner, ..) if right => product(outer) || !product(*inner),
        ExprKind::Binary(inner, ..) => product(outer) && !product(*inner),
        ExprKind::Literal(_)
        | ExprKind::Variable(_)
        | ExprKind::GlobalVariable(_)
        | ExprKind::Column(_)
        | ExprKind::Unary(..)
        | ExprKind::Call(_)
        | ExprKind::Cast { .. }
        | ExprKind::Convert { .. }
        | ExprKind::SimpleCase { .. }
        | ExprKind::SearchedCase { .. }
        | ExprKind::Iif { .. }
        | ExprKind::Subquery(_)
        | ExprKind::Collate(..)
        | ExprKind::AtTimeZone(..) => false,
    };
    if wrap {
        out.push('(');
    }
    value(out, expr);
    if wrap {
        out.push(')');
    }
}

fn operator(op: BinaryOp) -> char {
    match op {
        BinaryOp::Add => '+',
        BinaryOp::Sub => '-',
        BinaryOp::Mul => '*',
        BinaryOp::Div => '/',
        BinaryOp::Mod => '%',
        BinaryOp::BitAnd => '&',
        BinaryOp::BitOr => '|',
        BinaryOp::BitXor => '^',
    }
}

fn call(out: &mut String, call: &Call) {
    if let [only] = call.name.parts.as_slice() {
        out.push_str(&only.name.to_lowercase());
    } else {
        name(out, &call.name);
    }
    out.push('(');
    if call.star {
        out.push('*');
    }
    let date_part = call.name.parts.len() == 1
        && call.name.parts[0]
            .name
            .to_ascii_lowercase()
            .starts_with("date");
    for (i, arg) in call.args.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        if let ExprKind::Column(part) = &arg.kind
            && i == 0
            && date_part
            && part.parts.len() == 1
        {
            out.push_str(&part.parts[0].name.to_lowercase());
        } else {
            value(out, arg)
        }
    }
    out.push(')');
}

fn type_name(out: &mut String, ty: &TypeName) {
    let last = ty.name.parts.last().map_or("", |part| part.name.as_str());
    out.push_str(&format!("[{}]", last.to_lowercase()));
    if ty.args.is_empty() {
        return;
    }
    let args: Vec<String> = ty
        .args
        .iter()
        .map(|arg| match arg {
            TypeArg::Number(n) => n.to_string(),
            TypeArg::Max => "max".to_owned(),
        })
        .collect();
    out.push_str(&format!("({})", args.join(",")));
}

fn truth(out: &mut String, condition: &Condition) {
    match condition {
        Condition::And(left, right) => both(out, left, right, " AND ", is_or),
        Condition::Or(left, right) => both(out, left, right, " OR ", |_| false),
        Condition::Not(inner) => {
            out.push_str("NOT ");
            let wrap = is_or(inner) || matches!(**inner, Condition::And(..));
            wrapped(out, inner, wrap);
        }
        Condition::Compare(op, left, right) => {
            value(out, left);
            out.push_str(comparison(*op));
            value(out, right);
        }
        Condition::IsNull { expr, negated } => {
            value(out, expr);
            out.push_str(if *negated { " IS NOT NULL" } else { " IS NULL" });
        }
        // The catalog holds BETWEEN and IN as the comparisons they stand for, IN from the last
        // value to the first.
        Condition::Between {
            expr,
            low,
            high,
            negated,
        } => {
            let (first, glue, second) = if *negated {
                ("<", " OR ", ">")
            } else {
                (">=", " AND ", "<=")
            };
            value(out, expr);
            out.push_str(first);
            value(out, low);
            out.push_str(glue);
            value(out, expr);
            out.push_str(second);
            value(out, high);
        }
        Condition::InList {
            expr,
            list,
            negated,
        } => {
            if *negated {
                out.push_str("NOT (");
            }
            for (i, item) in list.iter().rev().enumerate() {
                if i > 0 {
                    out.push_str(" OR ");
                }
                value(out, expr);
                out.push('=');
                value(out, item);
            }
            if *negated {
                out.push(')');
            }
        }
        Condition::Like {
            expr,
            pattern,
            escape,
            negated,
        } => {
            if *negated {
                out.push_str("NOT ");
            }
            value(out, expr);
            out.push_str(" like ");
            value(out, pattern);
            if let Some(escape) = escape {
                out.push_str(" escape ");
                value(out, escape);
            }
        }
        Condition::Quantified { .. } | Condition::InQuery { .. } | Condition::Exists(_) => {
            out.push_str("(SELECT …)");
        }
    }
}

/// Whether a condition is stored as alternatives.
fn is_or(condition: &Condition) -> bool {
    match condition {
        Condition::Or(..) => true,
        Condition::InList { list, negated, .. } => list.len() > 1 && !negated,
        Condition::Between { negated, .. } => *negated,
        Condition::And(..)
        | Condition::Not(_)
        | Condition::Compare(..)
        | Condition::Quantified { .. }
        | Condition::IsNull { .. }
        | Condition::InQuery { .. }
        | Condition::Like { .. }
        | Condition::Exists(_) => false,
    }
}

fn both(
    out: &mut String,
    left: &Condition,
    right: &Condition,
    glue: &str,
    wrap: impl Fn(&Condition) -> bool,
) {
    wrapped(out, left, wrap(left));
    out.push_str(glue);
    wrapped(out, right, wrap(right));
}

fn wrapped(out: &mut String, condition: &Condition, wrap: bool) {
    if wrap {
        out.push('(');
    }
    truth(out, condition);
    if wrap {
        out.push(')');
    }
}

fn comparison(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "=",
        CompareOp::Ne => "<>",
        CompareOp::Lt => "<",
        CompareOp::Le => "<=",
        CompareOp::Gt => ">",
        CompareOp::Ge => ">=",
    }
}
