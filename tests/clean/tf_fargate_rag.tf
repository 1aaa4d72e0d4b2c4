# A chat front end without an accelerator: Fargate in front of a managed model API.

variable "vpc_id" { type = string }
variable "private_subnets" { type = list(string) }
variable "image" { type = string }
variable "certificate_arn" { type = string }
variable "task_role_arn" { type = string }
variable "execution_role_arn" { type = string }

resource "aws_ecs_cluster" "apps" {
  name = "apps"

  setting {
    name  = "containerInsights"
    value = "enabled"
  }
}

resource "aws_ecs_cluster_capacity_providers" "apps" {
  cluster_name       = aws_ecs_cluster.apps.name
  capacity_providers = ["FARGATE", "FARGATE_SPOT"]

  default_capacity_provider_strategy {
    capacity_provider = "FARGATE"
    weight            = 1
  }
}

resource "aws_cloudwatch_log_group" "chat" {
  name              = "/ecs/chat"
  retention_in_days = 14
}

resource "aws_ecs_task_definition" "chat" {
  family                   = "chat"
  requires_compatibilities = ["FARGATE"]
  network_mode             = "awsvpc"
  cpu                      = 1024
  memory                   = 2048
  task_role_arn            = var.task_role_arn
  execution_role_arn       = var.execution_role_arn

  container_definitions = jsonencode([{
    name         = "chat"
    image        = var.image
    essential    = true
    portMappings = [{ containerPort = 3000, protocol = "tcp" }]
    environment = [
      { name = "MODEL_ID", value = "example.model-v1" },
      { name = "MAX_TOKENS", value = "2048" },
    ]
    linuxParameters = { initProcessEnabled = true }
    logConfiguration = {
      logDriver = "awslogs"
      options = {
        "awslogs-group"         = aws_cloudwatch_log_group.chat.name
        "awslogs-region"        = "eu-west-1"
        "awslogs-stream-prefix" = "chat"
      }
    }
  }])
}

resource "aws_lb" "chat" {
  name               = "chat"
  internal           = true
  load_balancer_type = "application"
  subnets            = var.private_subnets
}

resource "aws_lb_target_group" "chat" {
  name        = "chat"
  port        = 3000
  protocol    = "HTTP"
  target_type = "ip"
  vpc_id      = var.vpc_id

  health_check {
    path = "/healthz"
  }
}

resource "aws_lb_listener" "chat" {
  load_balancer_arn = aws_lb.chat.arn
  port              = 443
  protocol          = "HTTPS"
  certificate_arn   = var.certificate_arn

  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.chat.arn
  }
}

resource "aws_ecs_service" "chat" {
  name            = "chat"
  cluster         = aws_ecs_cluster.apps.id
  task_definition = aws_ecs_task_definition.chat.arn
  desired_count   = 3

  network_configuration {
    subnets = var.private_subnets
  }

  load_balancer {
    target_group_arn = aws_lb_target_group.chat.arn
    container_name   = "chat"
    container_port   = 3000
  }
}

resource "aws_appautoscaling_target" "chat" {
  service_namespace  = "ecs"
  resource_id        = "service/${aws_ecs_cluster.apps.name}/${aws_ecs_service.chat.name}"
  scalable_dimension = "ecs:service:DesiredCount"
  min_capacity       = 2
  max_capacity       = 12
}

resource "aws_appautoscaling_policy" "chat" {
  name               = "cpu"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.chat.service_namespace
  resource_id        = aws_appautoscaling_target.chat.resource_id
  scalable_dimension = aws_appautoscaling_target.chat.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 60
    predefined_metric_specification {
      predefined_metric_type = "ECSServiceAverageCPUUtilization"
    }
  }
}
